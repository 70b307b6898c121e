//! A network of IP addresses as an operator writes it: `10.0.0.0/8`, `2001:db8::/32`, or one address.

use std::net::{IpAddr, Ipv6Addr};

/// Bits of the addresses of one IPv6 site: a host chooses the others by itself.
const SITE_BITS: u32 = 64;

/// All addresses with the same first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    bits: u32,
}

impl Network {
    /// The network that `text` names; `None` where it names none.
    pub fn parse(text: &str) -> Option<Self> {
        let (first, bits) = text.split_once('/').map_or((text, None), |(first, bits)| (first, Some(bits)));
        let first: IpAddr = first.parse().ok()?;
        let most = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok().filter(|bits| *bits <= most))?;
        Some(Self { first, bits })
    }

    /// Whether the address lies in the network. An IPv4 address that is mapped to IPv6 is that IPv4 address.
    pub fn contains(self, address: IpAddr) -> bool {
        let differ = match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => (first.to_bits() ^ address.to_bits()).leading_zeros(),
            (IpAddr::V6(first), IpAddr::V6(address)) => (first.to_bits() ^ address.to_bits()).leading_zeros(),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
        };
        differ >= self.bits
    }
}

/// The address by which a client is known: its IPv4 address, or the first address of its IPv6 site.
pub fn site_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> SITE_BITS << SITE_BITS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_what_begins_with_its_bits() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.1.2", "11.0.0.0"),
            ("192.168.1.128/25", "192.168.1.129", "192.168.1.127"),
            ("127.0.0.1", "::ffff:127.0.0.1", "127.0.0.2"),
            ("2001:db8::/32", "2001:db8:1::9", "2001:db9::"),
            ("::1", "::1", "::2"),
            ("0.0.0.0/0", "203.0.113.9", "::1"),
        ] {
            let network = Network::parse(network).unwrap();
            assert!(network.contains(inside.parse().unwrap()), "{network:?} {inside}");
            assert!(!network.contains(outside.parse().unwrap()), "{network:?} {outside}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in
            ["", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.1/", "host", "10.0.0.1:80", "10.0.0.0/-1"]
        {
            assert_eq!(Network::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_site_has_all_addresses_that_a_host_may_choose() {
        let site = |address: &str| site_of(address.parse().unwrap()).to_string();
        assert_eq!(site("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(site("::ffff:203.0.113.9"), "203.0.113.9");
    }
}
