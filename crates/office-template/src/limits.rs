//! Limits of templates and of the documents made from them.

/// A limit, with the name by which the service's operator knows it.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The largest value that is allowed.
    pub value: u64,
    /// The name of its setting, for the message that it was passed.
    pub name: &'static str,
}

/// The limits of a template, and of the document made from it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files in the container.
    pub entries: Limit,
    /// Bytes of all files in it, unpacked.
    pub unpacked_bytes: Limit,
    /// How many times its packed size an XML file in it, or all of them together, may become.
    pub ratio: Limit,
    /// Elements inside of elements.
    pub depth: Limit,
    /// Elements in all parts that are read.
    pub elements: Limit,
    /// Attributes of an element.
    pub attributes: Limit,
    /// Tags in the template.
    pub tags: Limit,
    /// Repetitions of all sections together, counted by the program, which gets the limit in its settings.
    pub items: Limit,
    /// Slides of a presentation, or sheets of a workbook, when it is filled.
    pub slides: Limit,
    /// Parts that the turns of sections have of their own, such as headers, charts and embedded files.
    pub own_parts: Limit,
    /// Bytes of the parts that are filled, before they are packed.
    pub output_bytes: Limit,
}
