"""A switch and two cables have failed: which tables are safe now, what do they carry, and how do they get there?

Takes the real fabric that comes with runflat, its tables of today (as a subnet manager with MinHop would have them), and lets
every engine try. Then turns the tables of today into the best ones, block by block, without a packet ever running in circles.
"""

from pathlib import Path

import runflat
from runflat import Refusal, Routing

fabric = runflat.load(Path(__file__).parent.parent / "machines" / "stage_fdr_2014.ibnetdiscover")
today = fabric.route("minhop", compat="opensm")
assert isinstance(today, Routing)

broken = fabric.fail(links=2, switches=1, seed=5)
print(f"{sum(broken.failed_counts)} parts fail: {today.lost_paths(broken):,} paths are lost")

best: tuple[float, Routing] | None = None
for engine in runflat.engine_names():
    answer = broken.route(engine)
    if isinstance(answer, Refusal):
        print(f"{engine:>10}  refuses: {answer.reason}")
        continue
    check = answer.check()
    carried = answer.simulate("uniform").throughput_gb_s
    print(f"{engine:>10}  {carried:6.1f} GB/s on {check.vls} lanes: {check.joined_verdict}")
    if check.joined_verdict == "ok" and (best is None or carried > best[0]):
        best = carried, answer

assert best is not None, "some engine routes what is left"
update = today.update_to(best[1])
print(
    f"to the tables of {best[1].engine}: {update.changed_entries:,} entries in {update.changed_blocks} "
    f"blocks, {len(update.writes)} writes in {update.rounds} rounds"
)
