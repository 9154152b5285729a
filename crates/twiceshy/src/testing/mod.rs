//! The naive oracle and the conformance suite.
