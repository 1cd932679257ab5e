#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tandem_properties::run("provider", bytes));
