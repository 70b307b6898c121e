//! What bounds a template.

/// A limit, and what the service's operator knows it by.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The most that is let pass.
    pub value: u64,
    /// The name of its setting, for the sentence that says that it was passed.
    pub name: &'static str,
}

/// What bounds a template, and what is made of it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files in the container.
    pub entries: Limit,
    /// Bytes of all files in it, unpacked.
    pub unpacked_bytes: Limit,
    /// How many times its packed size a file in it, or all of it, may become.
    pub ratio: Limit,
    /// Elements inside of elements.
    pub depth: Limit,
    /// Elements in all parts that are read.
    pub elements: Limit,
    /// Attributes of an element.
    pub attributes: Limit,
    /// Tags in the template.
    pub tags: Limit,
    /// How often all sections together are repeated. The program counts it: it is among its settings.
    pub items: Limit,
    /// Slides of a presentation, or sheets of a workbook, when it is filled.
    pub slides: Limit,
    /// Bytes of the parts that are filled, before they are packed.
    pub output_bytes: Limit,
}
