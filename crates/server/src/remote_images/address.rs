//! Which addresses are public.
//!
//! By hand, because the `is_global` of the standard library is not stable.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether anybody on the internet reaches the same host at this address.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation();
    let special_block = match address.octets() {
        // This network; reserved, and broadcast.
        [0 | 240..=255, ..]
        // Protocol assignments; relays from IPv6.
        | [192, 0, 0, _] | [192, 88, 99, _]
        // Benchmarks.
        | [198, 18 | 19, ..] => true,
        // Shared by the customers of a provider.
        [100, second, ..] => second & 0xc0 == 64,
        _ => false,
    };
    !special && !special_block
}

/// Only global unicast is, which leaves out everything that holds an IPv4 address but tunnels.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Protocol assignments, Teredo included; documentation; tunnels from IPv4; documentation.
        [0x2001, ..=0x01ff | 0x0db8, ..] | [0x2002, ..] | [0x3fff, ..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests;
