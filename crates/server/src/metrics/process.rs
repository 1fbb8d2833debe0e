//! What the system knows about the process. Only Linux tells in this way; elsewhere the figures stay 0.

/// `VmRSS` of the process.
pub(super) fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Files, sockets and pipes; the one that counts them is among them for a moment.
pub(super) fn open_descriptors() -> Option<i64> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count();
    i64::try_from(open.saturating_sub(1)).ok()
}
