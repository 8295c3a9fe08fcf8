-- Where GPU models wait to be checked. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_gpu_model (
    file_no int, line bigint, record text,
    model text, family text, architecture text, memory_gib numeric, dense_fp16_tflops numeric,
    memory_bandwidth_gb_s numeric, tdp_w numeric, mig_slices_max numeric, release_year numeric, note text
) ON COMMIT DROP
