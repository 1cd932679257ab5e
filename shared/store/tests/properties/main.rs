//! A place.
