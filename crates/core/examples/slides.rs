use runflat_core::grid::Grid;
use runflat_core::load::{GridLoad, MovingLoad, Partners};
use runflat_core::params::Args;
use runflat_core::recovery::spares::*;
use runflat_core::rng::Seed;
use runflat_core::sim::montecarlo::{Campaign, Job, Victims};
use runflat_core::traffic::{Message, Traffic};
use runflat_core::{ids::Rank, units::Bytes};

fn stencil(shape: &[u32]) -> Traffic {
    let grid = Grid::new(shape, false).unwrap();
    let n = grid.node_count() as u32;
    let mut messages = vec![];
    for r in 0..n {
        for d in 0..shape.len() {
            let c = grid.coordinate(runflat_core::ids::NodeId(r), d);
            let s = grid.stride(d);
            if c > 0 { messages.push(Message { source: Rank(r), target: Rank(r - s), size: Bytes(1) }); }
            if c + 1 < shape[d] { messages.push(Message { source: Rank(r), target: Rank(r + s), size: Bytes(1) }); }
        }
    }
    Traffic { ranks: n, messages }
}

fn go<const Q: usize>(shape: [u32; Q], alloc: &str, sequences: u64) {
    let grid = std::sync::Arc::new(Grid::new(&shape, false).unwrap());
    let allocation: Allocation = alloc.parse().unwrap();
    let start = Occupancy::new(grid.clone(), &allocation).unwrap();
    let partners = std::sync::Arc::new(Partners::new(&stencil(&allocation.job_shape(&grid).unwrap())));
    let free = start.free_count();
    let load = MovingLoad::new(partners, GridLoad::<Q>::new(&grid), start.node_of(), grid.node_count());
    let start = Job::new(start, load);
    let only = std::env::args().nth(2);
    for name in ["hybrid(all)", "0D", "hybrid(-2D)"].into_iter().filter(|n| only.as_deref().is_none_or(|o| o == *n)) {
        let methods = [Method::parse(name, Q).unwrap()];
        let failures = free;
        let campaign = Campaign { dead: vec![], victims: Victims::Hosts, methods: methods.to_vec(), choices: Choices::default(), failures, seed: Seed(1) };
        let t = cpu();
        let found = campaign.run(&start, 0..sequences);
        let s = cpu() - t;
        let mean = |f: usize| { let row = &found[0].collisions[f]; let n: u64 = row.iter().sum(); row.iter().enumerate().map(|(c, k)| c as f64 * *k as f64).sum::<f64>() / n as f64 };
        print!("{shape:?} {name}: {:.0} ns a failure; mean at", s * 1e9 / (sequences * failures as u64) as f64);
        for f in [1, 2, 5, 10, 20, 50, 100, 250, 500, 740, failures] { if f <= failures { print!(" {f}:{:.2}", mean(f - 1)); } }
        let mut degrees = vec![0u64; Q + 1];
        for row in &found[0].degrees { for (d, k) in row.iter().enumerate() { degrees[d] += k; } }
        println!("; degrees {degrees:?} unrecovered {:?}", found[0].unrecovered.iter().sum::<u64>());
    }
}

fn cpu() -> f64 {
    std::fs::read_dir("/proc/self/task").unwrap().map(|task| {
        let text = std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
        text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
    }).sum()
}

fn main() {
    let _ = std::any::type_name::<Args>();
    let n = std::env::args().nth(1).map_or(20, |a| a.parse().unwrap());
    go([24, 24, 24], "3D(2,1)", n);
    if std::env::args().nth(3).is_some() { return; }
    go([12, 12, 12], "3D(2,1)", n);
    go([100, 100], "2D(2,1)", n);
}
