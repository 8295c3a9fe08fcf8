-- Which instance types have GPUs. Rows provider, instance_type.
SELECT DISTINCT provider, instance_type FROM audit.instance_type WHERE gpu_count > 0
