//! What the programs that measure share: charts, plots, processes, and what a report says of the machine.

pub mod chart;
pub mod machine;
pub mod own_process;
pub mod plot;
pub mod report_section;
