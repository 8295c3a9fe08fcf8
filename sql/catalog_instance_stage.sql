-- Where instance types wait to be checked. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_instance_type (
    file_no int, line bigint, record text,
    given_provider text, instance_type text, gpu_model text, gpu_count numeric, gpu_memory_gib numeric, mig_capable text,
    vcpus numeric, memory_gib numeric, sources_agreeing text, note text, provider text
) ON COMMIT DROP
