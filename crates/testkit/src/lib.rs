//! Never shipped: conformance suites for the ports, and what other crates' tests are built from.

pub mod conformance;
#[cfg(feature = "fakes")]
pub mod model_server;
