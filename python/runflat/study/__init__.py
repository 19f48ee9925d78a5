"""Studies: a plan of many scenarios, run in parallel, resumed after any end, reported on one page.

`plan` says what a study is and checks it; `scenario` computes one scenario as a pure function of plan and index; `journal`
keeps what is done; `runner` runs what is not; `results` are the tables; `answer` puts them into sentences.
"""

from runflat.study.plan import Plan, PlanError, read_plan
from runflat.study.results import Results
from runflat.study.runner import Study

__all__ = ["Plan", "PlanError", "Results", "Study", "read_plan"]
