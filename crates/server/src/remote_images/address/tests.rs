use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::is_public;

/// Blocks of IPv4 that are not global, as the registry of special addresses has them.
const SPECIAL_V4: [&str; 16] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
];

/// The same for IPv6, with everything that holds an IPv4 address.
const SPECIAL_V6: [&str; 19] = [
    "::/128",
    "::1/128",
    "::/96",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/32",
    "2001:2::/48",
    "2001:10::/28",
    "2001:20::/28",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "ff00::/8",
];

/// An address and how many of its first bits are the block's.
fn block<A: std::str::FromStr>(block: &str) -> (A, u32) {
    let (address, bits) = block.split_once('/').unwrap();
    (address.parse().ok().unwrap(), bits.parse().unwrap())
}

/// The bits of `any` in the block of `first`.
fn inside(first: u128, bits: u32, any: u128, width: u32) -> u128 {
    let free = 1_u128.checked_shl(width - bits).map_or(u128::MAX, |size| size - 1);
    first | (any & free)
}

fn v4_inside(text: &str, any: u32) -> Ipv4Addr {
    let (first, bits) = block::<Ipv4Addr>(text);
    let address = inside(first.to_bits().into(), bits, any.into(), 32);
    Ipv4Addr::from_bits(u32::try_from(address).unwrap())
}

fn v6_inside(text: &str, any: u128) -> Ipv6Addr {
    let (first, bits) = block::<Ipv6Addr>(text);
    Ipv6Addr::from_bits(inside(first.to_bits(), bits, any, 128))
}

#[test]
fn known_addresses() {
    for (address, public) in [
        ("1.1.1.1", true),
        ("8.8.8.8", true),
        ("9.255.255.255", true),
        ("11.0.0.0", true),
        ("100.63.255.255", true),
        ("100.128.0.0", true),
        ("172.15.255.255", true),
        ("172.32.0.0", true),
        ("192.0.1.1", true),
        ("198.17.255.255", true),
        ("198.20.0.0", true),
        ("223.255.255.255", true),
        ("127.0.0.1", false),
        ("169.254.169.254", false),
        ("10.0.0.1", false),
        ("0.0.0.0", false),
        ("2606:4700:4700::1111", true),
        ("2001:4860:4860::8888", true),
        ("2001:200::1", true),
        ("3ffe::1", true),
        ("::1", false),
        ("::ffff:127.0.0.1", false),
        ("::ffff:8.8.8.8", false),
        ("64:ff9b::7f00:1", false),
        ("64:ff9b::808:808", false),
        ("2002:7f00:1::", false),
        ("fd00:ec2::254", false),
        ("fe80::1", false),
        ("fec0::1", false),
        ("ff02::1", false),
    ] {
        assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
    }
}

#[test]
fn blocks_are_special_from_their_first_to_their_last_address() {
    for text in SPECIAL_V4 {
        for any in [0, u32::MAX] {
            assert!(!is_public(v4_inside(text, any).into()), "{text}");
        }
    }
    for text in SPECIAL_V6 {
        for any in [0, u128::MAX] {
            assert!(!is_public(v6_inside(text, any).into()), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn nothing_special_is_public(any in any::<u128>(), v4 in 0..SPECIAL_V4.len(), v6 in 0..SPECIAL_V6.len()) {
        #[allow(clippy::cast_possible_truncation, reason = "any bits will do")]
        let address = v4_inside(SPECIAL_V4[v4], any as u32);
        prop_assert!(!is_public(address.into()));
        prop_assert!(!is_public(v6_inside(SPECIAL_V6[v6], any).into()));
    }

    /// However an IPv4 address is written as an IPv6 one, it is not taken.
    #[test]
    fn no_other_form_of_an_ipv4_address_is_public(bits in any::<u32>()) {
        let low = u128::from(bits);
        for (prefix, shift) in [("::", 0), ("::ffff:0:0", 0), ("64:ff9b::", 0), ("2002::", 80)] {
            let prefix = prefix.parse::<Ipv6Addr>().unwrap().to_bits();
            let address = Ipv6Addr::from_bits(prefix | (low << shift));
            prop_assert!(!is_public(IpAddr::V6(address)), "{address}");
        }
    }

    /// What the standard library knows as special is never taken.
    #[test]
    fn public_means_nothing_that_has_another_meaning(v4 in any::<u32>(), v6 in any::<u128>()) {
        let v4 = Ipv4Addr::from_bits(v4);
        let special = v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_multicast()
            || v4.is_broadcast() || v4.is_documentation() || v4.is_unspecified();
        prop_assert!(!(special && is_public(v4.into())), "{v4}");
        let v6 = Ipv6Addr::from_bits(v6);
        let special = v6.is_loopback() || v6.is_unicast_link_local() || v6.is_unique_local()
            || v6.is_multicast() || v6.is_unspecified();
        prop_assert!(!(special && is_public(v6.into())), "{v6}");
    }
}
