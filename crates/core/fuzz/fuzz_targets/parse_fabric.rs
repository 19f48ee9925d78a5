//! Any bytes: reading them as a fabric gives a machine or an error, and what was read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use runflat_core::ids::VertexId;
use runflat_core::machine::Machine;
use runflat_core::machine::diff::diff;
use runflat_core::machine::formats::{FORMATS, read, write};
use runflat_core::machine::names::Names;

fuzz_target!(|bytes: &[u8]| {
    let Ok(import) = read(bytes, "fuzz") else { return };
    let machine = import.machine;
    for format in FORMATS {
        // Slurm has no words for some machines.
        let Ok(text) = write(&machine, format.names()[0]) else { continue };
        let again = read(text.as_bytes(), "again");
        match format.names()[0] {
            "json" => assert_eq!(again.unwrap().machine, machine),
            // Control characters are lost, and ibnetdiscover numbers 1 to 254 ports.
            "ibnetdiscover" if plain(&machine) => {
                assert!(diff(&machine, &again.unwrap().machine).is_empty())
            }
            _ => {}
        }
    }
    let names = Names::new(&machine);
    for link in machine.links() {
        assert_eq!(names.find_link(&names.link(link)), Ok(link));
    }
});

fn plain(machine: &Machine) -> bool {
    (0..machine.vertex_count()).map(VertexId::from_index).all(|vertex| {
        let info = machine.part(vertex);
        (1..=254).contains(&info.radix) && !info.name.contains(char::is_control)
    })
}
