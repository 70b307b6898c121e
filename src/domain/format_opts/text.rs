//! An option that was given as text: a part of a form.

use std::sync::LazyLock;

use super::{Key, KeySet, OptionLimits, described};

/// Whether the value of the key `name` is a text, also where it looks like a number or like `true`; false for unknown keys.
pub fn is_text(name: &str) -> bool {
    static TEXTS: LazyLock<KeySet> = LazyLock::new(|| {
        let described = described(&OptionLimits::ADMITTED).into_iter();
        let texts = described.filter(|member| member.shape.is_text());
        KeySet::of(&texts.filter_map(|member| Key::from_name(member.name)).collect::<Vec<_>>())
    });
    Key::from_name(name).is_some_and(|key| TEXTS.has(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_keys_whose_values_are_strings() {
        let texts = [
            Key::Format,
            Key::HeaderTemplate,
            Key::FooterTemplate,
            Key::BaseUrl,
            Key::Selector,
            Key::MediaType,
            Key::Timezone,
            Key::Locale,
            Key::WaitForSelector,
            Key::WaitForExpression,
            Key::FileName,
            Key::Pages,
            Key::Engine,
            Key::Password,
            Key::UserPassword,
            Key::OwnerPassword,
        ];
        for &key in Key::ALL {
            assert_eq!(is_text(key.name()), texts.contains(&key), "{key}");
        }
        assert!(!is_text("landscapes"));
    }
}
