//! JSON pointers (RFC 6901), which name the places of faults.

/// Goes on to a field, or to an entry by its number.
pub fn step(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

/// The pointer of a field.
pub fn of(name: &str) -> String {
    let mut pointer = String::new();
    step(&mut pointer, name);
    pointer
}

/// The name that one step of a pointer goes on to.
pub fn name(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_from_its_pointer() {
        for (field, want) in [("a", "/a"), ("a/b~c", "/a~1b~0c"), ("~1", "/~01"), ("", "/")] {
            let mut below = "/list".to_owned();
            step(&mut below, field);
            assert_eq!((of(field).as_str(), below), (want, format!("/list{want}")));
            assert_eq!(name(&want[1..]), field);
        }
    }
}
