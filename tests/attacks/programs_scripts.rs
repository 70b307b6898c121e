//! The attacks of foreign programs, in perl: it is on every Debian and can make any system call.

use std::time::Duration;

use platen::workers::{Bounds, Excess};

/// How an attack has to end.
pub enum End {
    /// By itself, with nothing got; its last word is `done`.
    Itself,
    /// Killed for one of these.
    Killed(&'static [Excess]),
    /// Killed at its deadline, or for one of these: where runs have users of their own the system's process limit
    /// acts first, otherwise the watch.
    Late(&'static [Excess]),
    /// By itself, and what is at the path of its output is not read.
    NoOutput,
}

/// One attack: suite, name, script, its bounds, its end.
pub struct Attack {
    pub way: &'static str,
    pub name: &'static str,
    pub script: &'static str,
    pub bounds: fn(Bounds) -> Bounds,
    pub end: End,
}

/// Prints `GOT` for a success; each attempt prints something, so that an attack that was not tried is noticed.
pub const PRELUDE: &str = r#"
use strict; use warnings; no warnings 'portable'; use Socket; use Fcntl; use POSIX ();
$| = 1;
our ($service, $sibling, $port, $secret, $open, $socket, $abstract) = @ARGV;
$_ += 0 for $service, $sibling, $port;
our $arm = (POSIX::uname())[4] eq 'aarch64';
sub tried { my ($what, $ok) = @_; print $ok ? "GOT $what\n" : "no $what: $!\n" }
sub call { my ($number, @values) = @_; return syscall($number, @values) != -1 }
sub number { my ($intel, $other) = @_; return $arm ? $other : $intel }
"#;

const fn attack(way: &'static str, name: &'static str, script: &'static str, end: End) -> Attack {
    Attack { way, name, script, bounds: |bounds| bounds, end }
}

const fn bounded(attack: Attack, bounds: fn(Bounds) -> Bounds) -> Attack {
    Attack { bounds, ..attack }
}

fn brief(bounds: Bounds) -> Bounds {
    Bounds { deadline: Duration::from_millis(1_500), ..bounds }
}

/// The table.
pub fn attacks() -> Vec<Attack> {
    [sockets(), files(), links(), signals(), exhaustion(), memory(), lasting()]
        .into_iter()
        .flatten()
        .collect()
}

fn sockets() -> Vec<Attack> {
    let way = "sockets";
    vec![
        attack(
            way,
            "inet",
            "my ($s, $u, $r, $t); tried('tcp', socket($s, PF_INET, SOCK_STREAM, 0) && connect($s, sockaddr_in($port, INADDR_LOOPBACK))); \
             tried('udp', socket($u, PF_INET, SOCK_DGRAM, 0)); tried('raw', socket($r, PF_INET, SOCK_RAW, 1)); \
             tried('tcp6', socket($t, AF_INET6, SOCK_STREAM, 0)); print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "unix",
            "my ($s, $a, $b); tried('path', socket($s, PF_UNIX, SOCK_STREAM, 0) && connect($s, sockaddr_un($socket))); \
             tried('pair', socketpair($a, $b, PF_UNIX, SOCK_STREAM, 0)); \
             tried('made', call(number(133, 33), number('sock', -100), number(0140777, 'sock'), number(0, 0140777), 0)); print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "abstract",
            "my ($s, $n, $v); tried('abstract', socket($s, PF_UNIX, SOCK_STREAM, 0) && connect($s, pack('Sa*', 1, \"\\0$abstract\"))); \
             tried('netlink', socket($n, 16, SOCK_RAW, 0)); tried('vsock', socket($v, 40, SOCK_STREAM, 0)); \
             tried('ring', call(425, 8, pack('x256'))); print 'done'",
            End::Itself,
        ),
    ]
}

fn files() -> Vec<Attack> {
    let way = "files";
    vec![
        attack(
            way,
            "reading",
            "for my $path ($secret, '/etc/passwd', '/etc/hostname', \"/proc/$service/environ\", \"/proc/$service/mem\", \
             \"/proc/$$/../1/status\", '/proc/self/environ', '../tenant', '../../lock', '/dev/kmsg') \
             { tried(\"open $path\", open(my $f, '<', $path)) } \
             chdir '..'; chdir '..'; tried('by another way', open(my $f, '<', \"../\" x 20 . $secret)); print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "writing",
            "for my $path (\"$open/made\", '/tmp/platen-made', '../made', '../../made', '/dev/shm/made', '/var/tmp/made', $secret) \
             { tried(\"make $path\", open(my $f, '>>', $path)) } \
             tried('mkdir', mkdir \"$open/folder\"); tried('unlink', unlink $secret); tried('truncate', truncate($secret, 0)); \
             tried('rename', rename($secret, 'secret')); open my $f, '>', 'own'; \
             tried('moved out', rename('own', \"$open/own\")); tried('linked out', link('own', \"$open/own\")); print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "rights and times of files",
            "my $name = \"$secret\"; my ($at, $user, $times) = (-100, $< + 0, pack('q4', 1, 0, 1, 0)); for my $path ($name, \"$open\", '../tenant', '..', '../../lock') { \
             tried('chmod', chmod(0600, $path)); tried('fchmodat', call(number(268, 53), $at, $path, 0600)); \
             tried('fchmodat2', call(452, $at, $path, 0600, 0)); tried('chown', chown($<, -1, $path)); \
             tried('fchownat', call(number(260, 54), $at, $path, $user, -1, 0)); my $i = 0; my $of = $path; \
             tried('utime', utime(0, 0, $path)); tried('utimensat', call(number(280, 88), $at, $of, $times, 0)); \
             my ($key, $value) = ('user.a', 'b'); tried('setxattr', call(number(188, 5), $of, $key, $value, 1, 0)); \
             tried('lsetxattr', call(number(189, 6), $of, $key, $value, 1, 0)); tried('removexattr', call(number(197, 14), $of, $key)); \
             tried('truncate', truncate($path, 0)); \
             if (!$arm) { tried('old chmod', call(90, $of, 0600)); tried('old chown', call(92, $of, $user, -1)); tried('lchown', call(94, $of, $user, -1)); \
             tried('old utime', call(132, $of, $times)); tried('utimes', call(235, $of, $times)); tried('futimesat', call(261, $at, $of, $times)) } \
             my $watch = syscall(number(253, 26), 0) if !$arm; $watch = syscall(number(294, 26), 0); \
             tried('watch', $watch >= 0 && call(number(254, 27), $watch, $of, 0xfff)) } \
             open my $own, '>', 'own'; print utime(1, 1, $own) && chmod(0640, $own) && truncate($own, 9) ? 'done' : \"not its own: $!\"",
            End::Itself,
        ),
        attack(
            way,
            "listing",
            "for my $path ($open, '/', '/etc', '/proc', '..', '../..', '/tmp', '/home', '/root', '/var') \
             { tried(\"list $path\", opendir(my $d, $path)) } print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "executing",
            "open my $f, '>', 'own'; print $f \"#!/bin/sh\\necho GOT own\\n\"; close $f; chmod 0755, 'own'; \
             tried('own', system('./own') == 0); tried('sbin', system('/usr/sbin/nologin') >= 0); print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "rights",
            "tried('user', call(number(105, 146), 0)); tried('chroot', chroot('.')); \
             tried('namespace', call(number(272, 97), 0x10000000)); tried('mount', call(number(165, 40), 'a', 'b', 'tmpfs', 0, 0)); \
             if (!$arm) { for my $call (39, 62, 524, 1023) { call(0x40000000 + $call, 0, 0); tried(\"other number $call\", !$!{EPERM}) } } \
             tried('trace', call(number(101, 117), 16, $service, 0, 0)); tried('keys', call(number(248, 217), 'user', 'a', 'b', 1, -3)); \
             print 'done'",
            End::Itself,
        ),
    ]
}

fn links() -> Vec<Attack> {
    let way = "output is";
    vec![
        attack(way, "a symlink to a secret", "symlink $secret, 'out'; print 'done'", End::NoOutput),
        attack(
            way,
            "a symlink to its own file",
            "open F, '>own'; symlink 'own', 'out'; print 'done'",
            End::NoOutput,
        ),
        attack(way, "a symlink to /proc", "symlink '/proc/self/environ', 'out'; print 'done'", End::NoOutput),
        attack(way, "a hard link to a secret", "link $secret, 'out'; print 'done'", End::NoOutput),
        attack(
            way,
            "a hard link to its own file",
            "open F, '>own'; link 'own', 'out'; print 'done'",
            End::NoOutput,
        ),
        attack(way, "a named pipe", "POSIX::mkfifo('out', 0777); print 'done'", End::NoOutput),
        attack(way, "a folder", "mkdir 'out'; print 'done'", End::NoOutput),
        attack(
            way,
            "a device",
            "call(number(133, 33), number('out', -100), number(020666, 'out'), number(0x103, 020666), 0x103); print 'done'",
            End::NoOutput,
        ),
        attack(way, "a file below a link", "symlink $open, 'sub'; print 'done'", End::NoOutput),
        attack(
            way,
            "longer than it holds",
            "open my $f, '>', 'out'; truncate $f, 7_000_000; print 'done'",
            End::NoOutput,
        ),
    ]
}

fn signals() -> Vec<Attack> {
    let way = "signals";
    vec![
        attack(
            way,
            "to others",
            "for my $who ($service, $sibling, getppid, 1, -1, 0, -getpgrp) { tried(\"kill $who\", kill 'KILL', $who); \
             tried(\"look at $who\", kill 0, $who) } print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "by other calls",
            "for my $who ($service, $sibling) { tried('tkill', call(number(200, 130), $who, 9)); \
             tried('tgkill', call(number(234, 131), $who, $who, 9)); my $info = pack('l3x116', 9, 0, -1); \
             tried('queue', call(number(129, 138), $who, 9, $info)); tried('queue thread', call(number(297, 240), $who, $who, 9, $info)); \
             my $fd = syscall(434, $who, 0); tried('pidfd', $fd >= 0 && call(424, $fd, 9, 0, 0)) } \
             pipe my $r, my $w; tried('owner', fcntl($r, F_SETOWN, $service)); tried('which signal', fcntl($r, 10, 9)); \
             my $owner = pack('l2', 1, $service); tried('owner again', fcntl($r, 15, $owner)); \
             tried('owner by ioctl', ioctl($r, 0x8901, pack('l', $service))); print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "to its own children",
            "my $child = fork; if (!$child) { sleep 60; exit } tried('kill', kill 'KILL', $child); print 'done'",
            End::Itself,
        ),
        attack(
            way,
            "priorities of others",
            "tried('nice', setpriority(0, $service, 19)); tried('user', setpriority(2, 0, 19)); \
             tried('affinity', call(number(203, 122), $service, 8, pack('Q', 1))); \
             tried('scheduler', call(number(144, 119), $service, 5, pack('l', 0))); \
             tried('io', call(number(251, 30), 1, $service, 0x6000)); tried('limits', call(number(302, 261), $service, 7, pack('QQ', 9, 9), 0)); \
             print 'done'",
            End::Itself,
        ),
    ]
}

fn exhaustion() -> Vec<Attack> {
    let way = "takes";
    let processes = End::Late(&[Excess::Processes]);
    vec![
        bounded(attack(way, "processes", "fork while 1", processes), brief),
        bounded(
            attack(
                way,
                "processes that end",
                "$SIG{CHLD} = 'IGNORE'; while (1) { my $child = fork; exit if defined $child && !$child }",
                End::Late(&[Excess::Processes]),
            ),
            brief,
        ),
        attack(way, "standard output", "print 'x' x 65536 while 1", End::Killed(&[Excess::Printed])),
        attack(way, "standard error", "print STDERR 'x' x 65536 while 1", End::Killed(&[Excess::Printed])),
        attack(way, "one file", "open F, '>f'; print F 'x' x 65536 while 1", End::Killed(&[Excess::Written])),
        attack(
            way,
            "its home",
            "chdir $ENV{HOME}; my $n; while (1) { open F, '>f' . $n++; print F 'x' x 1_000_000 }",
            End::Killed(&[Excess::Written, Excess::Files]),
        ),
        attack(way, "many files", "my $n; open F, '>f' . $n++ while 1", End::Killed(&[Excess::Files])),
        attack(way, "deep folders", "while (1) { mkdir 'd'; chdir 'd' }", End::Killed(&[Excess::Files])),
        attack(
            way,
            "hidden files",
            "mkdir 'h'; chdir 'h'; for (1..40) { open F, \">f$_\"; print F 'x' x 500_000 } chmod 0, '.'; sleep 60",
            End::Killed(&[Excess::Written]),
        ),
        attack(
            way,
            "files without a name",
            "my @f; for (1..40) { open $f[$_], \">f\"; unlink 'f'; print {$f[$_]} 'x' x 500_000 } sleep 60",
            End::Killed(&[Excess::Written]),
        ),
        bounded(attack(way, "processor", "1 while 1", End::Killed(&[Excess::Processor])), |bounds| Bounds {
            processor_s: 1,
            ..bounds
        }),
    ]
}

fn memory() -> Vec<Attack> {
    let way = "takes";
    vec![
        attack(way, "memory", "my $x = 'x' x 2_000_000_000; sleep 60", End::Killed(&[Excess::Memory])),
        attack(
            way,
            "memory in many",
            "fork; fork; fork; my $x = 'x' x 100_000_000; sleep 60",
            End::Killed(&[Excess::Memory]),
        ),
        attack(
            way,
            "memory in files of memory",
            "my ($name, @f) = 'x'; for (1..9) { my $fd = syscall(number(319, 279), $name, 0); open $f[$_], '>&=', $fd or die; syswrite $f[$_], 'x' x 2_000_000 } sleep 60",
            End::Killed(&[Excess::Written]),
        ),
        attack(
            way,
            "memory behind a first thread that has ended",
            "use threads; threads->create(sub { my $much = 400_000_000; my $x = 'x' x $much; sleep 60 }); syscall(number(60, 93), 0)",
            End::Killed(&[Excess::Memory]),
        ),
        attack(
            way,
            "shared memory that is not mapped in",
            "my $size = 1 << 28; my $at = syscall(number(9, 222), 0, $size, 3, 0x21, -1, 0); die if $at == -1; \
             for my $n (0..15) { my $part = $size / 16; call(number(28, 233), $at + $n * $part, $part, 23) or die; \
             call(number(28, 233), $at + $n * $part, $part, 4) or die } sleep 60",
            End::Killed(&[Excess::Memory]),
        ),
        attack(
            way,
            "files of memory that are mapped and closed",
            "my ($name, $size) = ('x', 7_000_000); for (1..40) { my $fd = syscall(number(319, 279), $name, 0); open my $f, '>&=', $fd or die; \
             truncate $f, $size or die; my $at = syscall(number(9, 222), 0, $size, 3, 1, $fd, 0); \
             call(number(28, 233), $at, $size, 23) or die; call(number(28, 233), $at, $size, 4); close $f } sleep 60",
            End::Killed(&[Excess::Memory, Excess::Written]),
        ),
        attack(
            way,
            "more mappings than are looked at",
            "open my $f, '+>', 'x' x 250; syswrite $f, 'x' x 8192; \
             for (1..60_000) { last if syscall(number(9, 222), 0, 4096, 1, 2, fileno $f, 0) == -1 } sleep 60",
            End::Killed(&[Excess::Written]),
        ),
        attack(
            way,
            "memory shared without a file",
            "tried('shm', defined shmget(0, 1 << 20, 01600)); tried('sem', defined semget(0, 9, 01600)); \
             tried('msg', defined msgget(0, 01600)); tried('mq', call(number(240, 180), 'q', 0102, 0600, 0)); \
             for my $call ([30, 196, 'shmat'], [31, 195, 'shmctl'], [66, 191, 'semctl'], [65, 193, 'semop'], [71, 187, 'msgctl'], [69, 189, 'msgsnd'], [70, 188, 'msgrcv'], [241, 181, 'mq_unlink']) \
             { my $zero = 0; call(number($call->[0], $call->[1]), $zero, 0, 0, 0, 0); tried($call->[2], !$!{EPERM}) } print 'done'",
            End::Itself,
        ),
    ]
}

fn lasting() -> Vec<Attack> {
    let way = "lasts";
    vec![
        attack(
            way,
            "by a session",
            "if (!fork) { tried('session', POSIX::setsid() != -1); tried('group', POSIX::setpgid(0, 0)); \
             tried('group of another', POSIX::setpgid(0, $service)); print 'done'; exit } wait",
            End::Itself,
        ),
        attack(
            way,
            "by a double fork",
            "if (!fork) { if (!fork) { POSIX::setsid(); $SIG{$_} = 'IGNORE' for keys %SIG; sleep 60 } exit } wait; print 'done'",
            End::Itself,
        ),
        bounded(
            attack(
                way,
                "by ignoring signals",
                "$SIG{$_} = 'IGNORE' for qw(TERM INT HUP QUIT XCPU XFSZ ALRM); fork; fork; sleep 1 while 1",
                End::Late(&[]),
            ),
            brief,
        ),
        attack(
            way,
            "by another parent's death",
            "tried('death signal', call(number(157, 167), 1, 0, 0, 0, 0)); tried('hidden', call(number(157, 167), 4, 0, 0, 0, 0)); \
             tried('household', call(number(157, 167), 36, 1, 0, 0, 0)); \
             my $child = syscall(number(56, 220), 0x8000 | 17, 0, 0, 0, 0); POSIX::_exit(0) if !$child; tried('sibling', $child > 0); \
             tried('files of its own', call(number(436, 436), 900, 901, 2)); print 'done'",
            End::Itself,
        ),
        bounded(
            attack(
                way,
                "by ever new processes",
                "while (1) { if (fork) { select undef, undef, undef, 0.001; POSIX::_exit(0) if getppid != $service; wait } }",
                End::Late(&[Excess::Processes]),
            ),
            brief,
        ),
    ]
}
