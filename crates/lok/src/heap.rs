//! What the C library is told of the heap: how children need not copy it, and how a service gives it back.
//!
//! What was loaded and closed again leaves gaps all over the heap. A child that fills them writes to thousands of pages
//! that it shares with this process, and the system copies every one of them first: a tenth of all the processor time
//! that a document takes. So the gaps are filled here, once, with nothing, and what a child asks for comes in one piece
//! from behind the heap.

/// By how much a heap grows at once.
const GROWTH_BYTES: libc::c_int = 16 << 20;
/// From here on memory is the system's own, page by page, and given back at once. The most that the C library takes.
const MAPPED_BYTES: libc::c_int = 32 << 20;
/// Nothing is given back: a child that frees memory is soon gone.
const KEPT_BYTES: libc::c_int = libc::c_int::MAX;

/// The largest gaps that are looked for, and from where on every size is.
const LARGEST_BYTES: usize = 1 << 20;
const SMALL_BYTES: usize = 1 << 10;
/// All sizes are multiples of it.
const GRAIN_BYTES: usize = 16;

/// Pieces of this size and more come from the system, and go back to it when they are free.
const SERVICE_MAPPED_BYTES: libc::c_int = 256 << 10;

/// Gives large pieces of memory back to the system as soon as they are free. Call it before they are taken.
///
/// Hazard: the C library keeps what it once got. It takes larger and larger pieces from the heap, where they leave gaps. After
/// 500 bodies of 1 MB a service kept 500 MB (tried), which nobody used.
pub fn give_back_large_pieces() {
    // SAFETY: it takes any name and number, and keeps what it does not understand as it was.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, SERVICE_MAPPED_BYTES) };
}

/// Fills the gaps. What it takes is never given back.
pub fn fill() {
    let settings = [
        (libc::M_TOP_PAD, GROWTH_BYTES),
        (libc::M_MMAP_THRESHOLD, MAPPED_BYTES),
        (libc::M_TRIM_THRESHOLD, KEPT_BYTES),
    ];
    for (name, value) in settings {
        // SAFETY: it takes any name and number, and keeps what it does not understand as it was.
        unsafe { libc::mallopt(name, value) };
    }
    let end = end();
    let mut size = LARGEST_BYTES;
    while size >= GRAIN_BYTES {
        while is_gap(size, end) {}
        size -= if size > SMALL_BYTES { size / 4 } else { GRAIN_BYTES };
    }
}

/// Where the part of the heap begins that nobody had yet.
fn end() -> usize {
    // SAFETY: it only tells of the heap.
    let heap = unsafe { libc::mallinfo2() };
    // SAFETY: by nought, the heap's end stays where it is and is told.
    let border = unsafe { libc::sbrk(0) };
    border.addr().saturating_sub(heap.keepcost)
}

/// Takes so many bytes, and keeps them where they lay in a gap.
fn is_gap(size: usize, end: usize) -> bool {
    // SAFETY: it answers null or so many bytes.
    let taken = unsafe { libc::malloc(size) };
    if !taken.is_null() && taken.addr() < end {
        return true;
    }
    // SAFETY: it is null or came from `malloc`, and nobody uses it.
    unsafe { libc::free(taken) };
    false
}
