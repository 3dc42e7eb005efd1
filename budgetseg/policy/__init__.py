"""Which descriptor a supervoxel needs, if any."""

import budgetseg.compiling  # noqa: F401 - before anything is compiled
from budgetseg.policy.linear import LinearPolicy, plan_policy, random_policy

__all__ = ["LinearPolicy", "plan_policy", "random_policy"]
