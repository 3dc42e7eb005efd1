"""Which descriptor a supervoxel needs, if any."""

from budgetseg.policy.linear import LinearPolicy, plan_policy, random_policy

__all__ = ["LinearPolicy", "plan_policy", "random_policy"]
