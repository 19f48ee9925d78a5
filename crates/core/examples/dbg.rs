use runflat_core::grid::Grid;
use runflat_core::load::{GridLoad, MovingLoad, Partners};
use runflat_core::recovery::spares::*;
use runflat_core::rng::Seed;
use runflat_core::workload;
fn main() {
    let grid = std::sync::Arc::new(Grid::new(&[8, 8, 8], false).unwrap());
    let a: Allocation = "3D(2,1)".parse().unwrap();
    let t = workload::bind("stencil(7,7,8)", &Default::default()).unwrap().phase(7*7*8, 0, Seed(1)).unwrap();
    let p = std::sync::Arc::new(Partners::new(&t));
    for name in ["1D", "2D"] {
        println!("== {name}");
        let mut occ = Occupancy::new(grid.clone(), &a).unwrap();
        let mut load = MovingLoad::new(p.clone(), GridLoad::<3>::new(&grid), occ.node_of(), grid.node_count());
        let m = Method::parse(name, 3).unwrap();
        let mut s = Substitutes::new(&m, Choices { pick: Pick::Fixed, ..Default::default() }, 3);
        let mut st = Seed(1).stream("x", 0);
        let mut moves = vec![];
        let f = grid.node_at(&[3, 3, 3]).unwrap();
        s.fail(&mut occ, f, &mut st, &mut moves);
        println!("{} moves", moves.len());
        let mv: Vec<_> = moves.iter().map(|o| (o.rank, o.to)).collect();
        load.relocate(&mv);
    }
}
