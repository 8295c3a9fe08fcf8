-- More of what GPUs did in an hour. A signal that was not measured is NULL.

ALTER TABLE audit.gpu_hour
    ADD tensor_mean_pct    real,
    ADD dram_mean_pct      real,
    ADD memory_total_mib   real,
    ADD pcie_tx_mean_b_s   real,
    ADD pcie_rx_mean_b_s   real,
    ADD nvlink_tx_mean_b_s real,
    ADD nvlink_rx_mean_b_s real,
    ADD throttle_power_s   real,
    ADD throttle_thermal_s real,
    ADD xid_changes        real;
COMMENT ON COLUMN audit.gpu_hour.tensor_mean_pct IS 'mean share of time in which the tensor pipes were active';
COMMENT ON COLUMN audit.gpu_hour.dram_mean_pct IS 'mean share of time in which the memory interface was active: how much of its bandwidth was used';
COMMENT ON COLUMN audit.gpu_hour.memory_total_mib IS 'memory of the GPU or MIG slice, as measured';
COMMENT ON COLUMN audit.gpu_hour.pcie_tx_mean_b_s IS 'mean bytes a second over PCIe, from the GPU';
COMMENT ON COLUMN audit.gpu_hour.pcie_rx_mean_b_s IS 'mean bytes a second over PCIe, to the GPU';
COMMENT ON COLUMN audit.gpu_hour.nvlink_tx_mean_b_s IS 'mean bytes a second over NVLink, from the GPU';
COMMENT ON COLUMN audit.gpu_hour.nvlink_rx_mean_b_s IS 'mean bytes a second over NVLink, to the GPU';
COMMENT ON COLUMN audit.gpu_hour.throttle_power_s IS 'seconds of the hour at lower clocks because of the power limit';
COMMENT ON COLUMN audit.gpu_hour.throttle_thermal_s IS 'seconds of the hour at lower clocks because of heat';
COMMENT ON COLUMN audit.gpu_hour.xid_changes IS 'driver errors (XID) that appeared in the hour: changes of the last error, not samples of it';
