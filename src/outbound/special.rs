//! Which addresses are globally reachable, by the registries of those that are not.
//!
//! Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates) and
//! the multicast registries. Blocks that are "globally reachable" only in parts are refused as a whole:
//! no store of documents is expected in them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 blocks that are not globally reachable, with the length of their prefix.
const SPECIAL_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),       // this network; 0.0.0.0 reaches loopback here
    ([10, 0, 0, 0], 8),      // private
    ([100, 64, 0, 0], 10),   // shared by carriers
    ([127, 0, 0, 0], 8),     // loopback
    ([169, 254, 0, 0], 16),  // link-local, and the metadata services of clouds
    ([172, 16, 0, 0], 12),   // private
    ([192, 0, 0, 0], 24),    // protocol assignments
    ([192, 0, 2, 0], 24),    // documentation
    ([192, 31, 196, 0], 24), // AS112
    ([192, 52, 193, 0], 24), // AMT
    ([192, 88, 99, 0], 24),  // 6to4 relays
    ([192, 168, 0, 0], 16),  // private
    ([192, 175, 48, 0], 24), // AS112
    ([198, 18, 0, 0], 15),   // benchmarks
    ([198, 51, 100, 0], 24), // documentation
    ([203, 0, 113, 0], 24),  // documentation
];
/// From here on: multicast, reserved, broadcast.
const UNUSED_V4: u32 = 0xE000_0000;

/// Global unicast (RFC 4291, section 2.4, and its registry).
const GLOBAL_V6: ([u16; 8], u32) = ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
/// Blocks within it that are not globally reachable.
const SPECIAL_V6: [([u16; 8], u32); 5] = [
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), // protocol assignments; Teredo, which embeds IPv4
    ([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32), // documentation
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4, which embeds IPv4
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), // AS112
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation
];
/// NAT64 (RFC 6052): an IPv4 address in the last four bytes, reached by a translator.
const NAT64: ([u16; 8], u32) = ([0x0064, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// Whether the address is globally reachable; an IPv4 address embedded in an IPv6 one is what counts.
pub fn is_global(address: IpAddr) -> bool {
    match canonical_ip(address) {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

/// The effective address: the IPv4 address embedded in a mapped or NAT64 address, else the address itself.
pub fn canonical_ip(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => embedded_v4(v6).map_or(address, IpAddr::V4),
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    let special = SPECIAL_V4.iter().any(|(block, length)| {
        let shift = 32 - length;
        bits >> shift == Ipv4Addr::from(*block).to_bits() >> shift
    });
    !special && bits < UNUSED_V4
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    lies_in(address, &GLOBAL_V6) && !SPECIAL_V6.iter().any(|block| lies_in(address, block))
}

/// The IPv4 address embedded in a mapped or a NAT64 address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b, c, d] = address.octets();
    let translated = lies_in(address, &NAT64).then(|| Ipv4Addr::new(a, b, c, d));
    address.to_ipv4_mapped().or(translated)
}

fn lies_in(address: Ipv6Addr, (block, length): &([u16; 8], u32)) -> bool {
    let shift = 128 - length;
    address.to_bits() >> shift == Ipv6Addr::from(*block).to_bits() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_internet_are_global() {
        for address in ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"]
        {
            assert!(is_global(address.parse().unwrap()), "{address}");
        }
        for address in ["2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"] {
            assert!(is_global(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn special_addresses_are_not_global_even_when_embedded_in_ipv6() {
        let v4 = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 \
            172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 \
            198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255";
        for address in v4.split(' ') {
            assert!(!is_global(address.parse().unwrap()), "{address}");
            for embedded in
                [format!("::ffff:{address}"), format!("64:ff9b::{address}"), format!("::{address}")]
            {
                assert!(!is_global(embedded.parse().unwrap()), "{embedded}");
            }
        }
        let v6 = ":: ::1 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:0:4136:e378::1 2001:db8::1 \
            2002:7f00:1:: 2002:808:808:: 2620:4f:8000::1 3fff::1 4000::1 5f00::1 fc00::1 \
            fd00:ec2::254 fe80::1 fec0::1 ff02::1";
        for address in v6.split(' ') {
            assert!(!is_global(address.parse().unwrap()), "{address}");
        }
    }
}
