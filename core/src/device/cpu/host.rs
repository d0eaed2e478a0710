//! What the system tells about the host, where it tells it in `/proc`.

use std::fs::read_to_string;

/// The processor's model.
pub(super) fn processor() -> Option<String> {
    let text = read_to_string("/proc/cpuinfo").ok()?;
    field(&text, "model name").map(str::to_owned)
}

/// Total and available bytes of memory.
pub(super) fn memory() -> (Option<u64>, Option<u64>) {
    let text = read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |name| field(&text, name)?.strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024);
    (bytes("MemTotal"), bytes("MemAvailable"))
}

/// The value of the first line `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemTotal:       24657408 kB\nMemAvailable:   100 kB\nmodel name\t: A: B\nodd line\n";
        assert_eq!(field(text, "MemTotal"), Some("24657408 kB"));
        assert_eq!(field(text, "model name"), Some("A: B"));
        assert_eq!(field(text, "Mem"), None);
    }
}
