"""The state of one window of a video: its supervoxels, the descriptors computed so far, and the labels made of them."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.prices import price, workload
from budgetseg.engine.loop import LATE, Outcome, done_of
from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.engine.trace import Finish, WindowTrace
from budgetseg.engine.window import Window
from budgetseg.errors import UsageError
from budgetseg.policy.episode import Episode
from budgetseg.policy.state import AGAIN, BUSY, full_cost, least_cost, world_of
from budgetseg.spaces.regions.absent import Absent
from budgetseg.spaces.regions.carry import carry, reduced
from budgetseg.spaces.regions.closing import Closing
from budgetseg.spaces.regions.costs import ALL_DESCRIPTORS, CARRYING, REDUCING, FixedCosts
from budgetseg.spaces.regions.evidence import RegionEvidence, WindowMemory
from budgetseg.spaces.regions.ladder import cheapest, given_up, smaller
from budgetseg.spaces.regions.paint import paint
from budgetseg.spaces.regions.worker import Worker
from budgetseg.supervoxels import Segmenter
from budgetseg.timing.deadline import Cuttable, Deadline, LateError
from budgetseg.timing.ledger import Account
from budgetseg.types import NOTHING, Action, Batch, Int32, Supervoxels, UInt8

if TYPE_CHECKING:
    from budgetseg.spaces.regions.space import Regions

__all__ = ["RegionState"]

_log = logging.getLogger(__name__)


class RegionState:
    """A window in the regions space; its labels get better the more descriptors are computed.

    Parameters
    ----------
    space : labels the window
    window : its frames
    costs : predicts the costs of plans for the video
    plan : which frames are read, and how they are labelled
    account : clock, prices and ledger
    seed : of all random choices

    Attributes
    ----------
    plan : the present plan; it may become cheaper while the window is read
    scene : frames and supervoxels; None before they are made
    episode : state of Algorithm 1; it begins with the first decision
    """

    def __init__(
        self, space: "Regions", window: Window, costs: FixedCosts, plan: Plan, account: Account, seed: int
    ) -> None:
        self.plan = plan
        self._space = space
        self._window = window
        self._costs = costs
        self._account = account
        self._seed = seed + window.number
        self._memory: WindowMemory | None = None
        self._episode: Episode | None = None
        self._n_found = len(window.span)
        self._deadline = Deadline(account.clock)
        self._is_prepared = False
        self._has_descriptors = False
        self._prepared_s = 0.0
        self._looked_s = 0.0
        self.scene: Scene | None = None

    # Making ready

    def glance(self, end_s: float) -> Batch:  # noqa: ARG002 - without supervoxels nothing can be asked
        """No action: supervoxels come first."""
        return NOTHING

    @property
    def is_known(self) -> bool:
        """Whether there is a descriptor of a supervoxel."""
        return self._has_descriptors

    def prepare(self, end_s: float, last_s: float) -> bool:  # noqa: ARG002 - the largest budget decides for all
        """Read the window and make its supervoxels, on the first call. Returns False if there is no time for labels.

        Labels are due at `last_s`, the end of the largest budget.
        """
        if self._is_prepared:
            return self.scene is not None
        self._is_prepared = True
        began_s = self._account.clock.now_s()
        is_ready = self._read_and_cut(last_s)
        self._prepared_s = self._account.clock.now_s() - began_s
        return is_ready

    def _read_and_cut(self, end_s: float) -> bool:
        frames, is_late = self._read(end_s)
        if len(frames) == 0 and not is_late:
            self._n_found = 0  # the video is shorter than its file says
            return False
        self._plan_again(len(frames), is_late, end_s)
        if self.plan.prior:
            return False
        self._cut_in_time(frames, end_s)
        for name in given_up(self.plan, self._costs.full):
            self._account.ledger.note(f"the budget is short: {name}")
        return True

    def prepare_again(self, earlier: WindowTrace, n_read: int, memory: WindowMemory | None = None) -> None:  # noqa: ARG002
        """Read the window and make its supervoxels as an earlier run did, or take them from its memory."""
        if self.scene is not None:
            return
        self._is_prepared = True
        self._memory = memory
        stride = self._window.reader.stride
        numbers = [(self._window.span.start + t) // stride for t in earlier.read]
        frames = np.stack([pixels for _, pixels in self._window.reader.read(numbers)])
        self.plan = replace(self.plan, size=earlier.size)
        self._make_scene(reduced(frames, earlier.size), earlier.n_places, np.inf)
        if self.n_places != earlier.n_places:
            raise UsageError("the trace does not fit the video; label it again")

    def _read(self, end_s: float) -> tuple[UInt8, bool]:
        """Read frames of the window (t, h, w, 3) as long as there is time to label them, and whether time was short."""
        reader = self._window.reader
        clock = self._account.clock
        first = self._window.span.start // reader.stride
        n_wanted = -(-len(self._window.span) // reader.stride)
        height, width = reader.source.height, reader.source.width
        frames = np.empty((n_wanted, height, width, 3), np.uint8)
        began_s = clock.now_s()
        n = 0
        is_late = False
        longest = STRIDES[-1] if self._window.number == 0 else self.plan.stride
        least = cheapest(self.plan, self._space.settings, longest)
        for n, (_, pixels) in enumerate(reader.read(range(first, first + n_wanted)), 1):
            frames[n - 1] = pixels
            clock.charge(reader.predict_s(self._space.prices, 1))
            if end_s == np.inf:
                continue
            next_s = (clock.now_s() - began_s) / n + self._space.margins.finish * self._read_fixed_s(n + 1, least)
            if clock.now_s() + next_s > end_s:
                is_late = n < n_wanted
                break
        if n:
            self._account.book("decode", reader.work(n), clock.now_s() - began_s, reader.key)
        if n < n_wanted and not is_late:
            self._n_found = min(n * reader.stride, len(self._window.span))
        if is_late:
            self._account.ledger.note(f"reading took too long: {n_wanted - n} frames of a window were not read")
        return frames[:n], is_late

    def _read_fixed_s(self, n_read: int, plan: Plan) -> float:
        """Predicted seconds of a plan on n_read frames that the present plan has read, without descriptors."""
        return self._costs.seconds(plan, -(-n_read * self._window.reader.stride // plan.stride), decoding=0.0)

    def _plan_again(self, n_read: int, is_late: bool, end_s: float) -> None:
        """Change to a cheaper plan in this window and those after it, if reading took longer than predicted."""
        if end_s == np.inf:
            return
        is_all = self._window.number == 0 and (self._window.is_last or is_late)
        longest = STRIDES[-1]
        least_s = 0.0
        if not is_all:  # windows that are still to be read must begin on the same frames, and must get some labels
            longest = self.plan.stride
            least_s = 1e-3
        left_s = max(end_s - self._account.clock.now_s(), least_s)
        plan = self._costs.choose(self.plan, left_s, partial(self._read_fixed_s, n_read), longest)
        self._change_plan(plan if is_all else replace(plan, prior=False))

    def _change_plan(self, plan: Plan) -> None:
        """Change to another plan, with frames that were read by the present one."""
        if plan.size != self.plan.size:
            plan = replace(plan, read_size=self.plan.read_size or self.plan.size)
        if plan != self.plan:
            _log.info("plan: %s", plan)
        self.plan = plan

    def _cut_in_time(self, read: UInt8, end_s: float) -> None:
        """Make the supervoxels of the window; of smaller frames if those that were read take too long."""
        stride = self.plan.stride // self._window.reader.stride
        while True:
            pictures = read[::stride]
            cheaper = None if end_s == np.inf else self._cheaper(len(pictures))
            latest_s = np.inf
            if cheaper is not None:
                latest_s = end_s - self._costs.after_cutting_s(self.plan, len(pictures))
            try:
                frames = self._reduced(pictures, self.plan.size)
                self._make_scene(frames, self.plan.supervoxels_in(len(frames)), latest_s)
                return
            except LateError:
                assert cheaper is not None
                self._change_plan(cheaper)

    def _reduced(self, pictures: UInt8, size: tuple[int, int]) -> UInt8:
        """Frames (t, h, w, 3) that were read, reduced to a size (rows, columns)."""
        if pictures.shape[1:3] == size:
            return np.ascontiguousarray(pictures)
        with self._account.stage(REDUCING, float(pictures[..., 0].size)):
            return reduced(pictures, size)

    def _cheaper(self, n_frames: int) -> Plan | None:
        """The plan with the next smaller frames whose supervoxels take clearly less time; None if there is none."""
        space = self._space.of_tier(self.plan.tier)
        settings = self._space.settings
        plan = smaller(self.plan, settings)
        work = space.cutting(n_frames, self.plan.size)[1]
        while plan is not None and space.cutting(n_frames, plan.size)[1] > settings.clearly_less * work:
            plan = smaller(plan, settings)
        return plan

    def _make_scene(self, frames: UInt8, n_supervoxels: int, latest_s: float) -> None:
        """Make supervoxels, and all that Algorithm 1 needs of them; LateError if they would not be ready in time."""
        space = self._space.of_tier(self.plan.tier)
        memory = self._memory
        if memory is None:
            key, work = space.cutting(len(frames), frames.shape[1:3])
            with self._account.stage("supervoxels", work, key):
                supervoxels = self._segment(frames, n_supervoxels, latest_s)
        else:
            supervoxels = memory.supervoxels
        with self._account.stage("preparation", float(frames[..., 0].size)):
            self.scene = Scene.of(frames, supervoxels)
            self._make_loop(space, supervoxels)

    def _segment(self, frames: UInt8, n: int, latest_s: float) -> Supervoxels:
        """Make supervoxels; LateError if the first frames took so long that the rest would not be ready in time."""
        clock = self._account.clock
        reported = self._space.settings.cutting_reported
        began_s = clock.now_s()
        n_frames = len(frames)
        n_done = 0

        def advance(n_more: int) -> None:
            nonlocal n_done
            n_done += n_more
            is_reliable = 3 * n_done >= n_frames  # the first few may have been slow by chance
            whole_s = (clock.now_s() - began_s) * n_frames / n_done / reported
            if is_reliable and began_s + whole_s > latest_s:
                raise LateError

        segmenter = Segmenter(frames.shape[1:3], self.plan.tier or self._space.tier, self._space.threads)
        ids = segmenter.push(frames, n_new=n, advance=advance)
        return Supervoxels(ids, segmenter.graph())

    def _make_loop(self, space: "Regions", supervoxels: Supervoxels) -> None:
        assert self.scene is not None
        h = space.classifiers
        prices = space.prices
        descriptors = [self._usable(descriptor) for descriptor in space.descriptors]
        self._enabled = self._allowed()
        for d, (usable, original) in enumerate(zip(descriptors, space.descriptors, strict=True)):
            self._enabled &= -1 if usable is original else ~(1 << d)
        self._live = LiveDescriptors(self.scene, descriptors, prices, timer=self._account.clock.now_s)
        # Not a method of this state: that would be a cycle of references, which keeps the window in memory.
        self._live.late = self._deadline.is_over
        self._worker = Worker(self._live, h, self._account.clock, space.settings, space.guarded)
        costs = price(self.scene, descriptors, prices)
        self._keys = [(kind, index) for kind, n in costs.kinds.items() for index in range(n)]
        asking_s = prices.usual("asking H", 1.0)  # H runs after every descriptor
        self._world = world_of(supervoxels.graph, replace(costs, private_s=costs.private_s + asking_s))
        self._closing = Closing(space.crf, h.prior, h.starts, supervoxels.graph)
        if self._memory is not None:
            self._worker.inputs[:] = self._memory.inputs

    def _allowed(self) -> int:
        """Descriptors that the plan allows, as bits."""
        h = self._space.classifiers
        return h.subset_of(["colour"]) if self.plan.colour_only and "colour" in h.names else -1

    def _usable(self, descriptor: Descriptor) -> Descriptor:
        """The descriptor, or a stand-in for a plug-in that fails to state its work."""
        assert self.scene is not None
        if descriptor.name in self._space.guarded:
            try:
                workload(self.scene, [descriptor])
            except Exception as error:  # a plug-in may raise anything, and the run must go on
                self._account.ledger.note(f"{descriptor.name} failed ({type(error).__name__}: {error}); dropped")
                return Absent(descriptor)
        return descriptor

    # Algorithm 1

    @property
    def episode(self) -> Episode:
        """The state of Algorithm 1."""
        if self._episode is None:
            self._begin(1.0)
        assert self._episode is not None
        return self._episode

    def _begin(self, share: float) -> None:
        """Begin Algorithm 1, with a share of the full cost to spend."""
        self._policy, selection = self._space.strategy(share)
        n_labels = self._space.classifiers.n_labels
        self._episode = Episode.begin(self._world, n_labels, np.inf, selection, self._seed, self._enabled)
        if self._memory is not None:
            self._episode.recall(self._memory.subsets, self._memory.probabilities)

    def choose(self, left_s: float) -> Batch:
        """The descriptors to compute next, as the policy decides."""
        prices = self._space.prices
        settings = self._space.settings
        self._look()
        slowdown = prices.slowdown.factor
        if self._episode is None:
            assert self.scene is not None
            full_s = full_cost(self._world, self._space.counted) * slowdown
            prices.observe_stage(ALL_DESCRIPTORS, float(self.scene.frames[..., 0].size), full_s)
            self._begin(self._space.threads * left_s / max(full_s, 1e-9))
        episode = self.episode
        episode.slowdown = slowdown
        episode.left_s = left_s / self._space.margins.action
        self._deadline.at_s = self._account.clock.now_s() + left_s
        return self._policy(episode, settings.batch, settings.batch_s)

    def _look(self) -> None:
        """Measure how busy the machine is, every `look_s` seconds, since finishing will be slowed down as much."""
        now_s = self._account.clock.now_s()
        if now_s - self._looked_s >= self._space.settings.look_s:
            self._looked_s = now_s
            self._space.prices.look()

    def do(self, batch: Batch) -> Outcome:
        """Compute descriptors, and H's probabilities from them."""
        return self._worker(self.episode, batch)

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Add the outcome to the episode. Descriptors that failed are dropped; those that were late are put back."""
        actions = batch.actions
        for k, why in outcome.missing.items():
            if why == LATE:
                self._put_back(actions[k])
            else:
                self._drop(actions[k], why)
        there = done_of(batch, outcome)
        done = batch if not outcome.missing else batch.take(there)
        is_chosen = np.isin(self.episode.state.status[done.places], (BUSY, AGAIN))
        for place in done.places[~is_chosen].tolist():
            self.episode.withdraw(place)  # in a replay, the list has chosen it, and not the episode
        self.episode.receive_all(done, outcome.values[there], outcome.spent_s[there])
        self._has_descriptors |= done.n_actions > 0

    def cuttable(self) -> Sequence[Cuttable]:
        """Resources of descriptors that may be under way, such as networks."""
        return list(self._live.resources.values())

    def _drop(self, action: Action, why: str) -> None:
        """Stop using a descriptor; the supervoxel is finished with the descriptors it has."""
        self.episode.drop(action.source)
        self.episode.give_up(action.place)
        self._account.ledger.note(f"{self._space.sources[action.source]} {why}; dropped")

    def _put_back(self, action: Action) -> None:
        """Undo an action that was cut off by the deadline; resources that were finished for it stay in the cache."""
        world = self.episode.world
        cache = self._live.cache
        cell = action.place * world.n_descriptors + action.source
        needed = world.needed[world.needs_first[cell] : world.needs_first[cell + 1]].tolist()
        keys = {resource: self._keys[resource] for resource in needed}
        is_lost = {name: key not in cache and not cache.is_in_the_making(key) for name, key in keys.items()}
        self.episode.lose([name for name, lost in is_lost.items() if lost])
        self.episode.give_up(action.place)

    def full_s(self, scope: str) -> float:
        """Predicted seconds of all descriptors of the window; with scope `total`, also of reading and finishing."""
        if not self.prepare(np.inf, np.inf):
            return 0.0
        seconds = full_cost(self._world, self._enabled) * self._space.prices.slowdown.factor
        return seconds if scope != "total" else seconds + self._prepared_s + self.finish_s()

    def next_s(self) -> float:
        """Predicted seconds of the cheapest descriptor that was not computed; 0 if all were."""
        least_s = least_cost(self._world, self.episode.state)
        factor = self._space.margins.action * self._space.prices.slowdown.factor
        return float(factor * least_s) if least_s < np.inf else 0.0

    # The end

    def finish_s(self) -> float:
        """Predicted seconds from the last descriptor to labels of all pixels."""
        if self.scene is None:
            return 0.0
        return self._closing.predict_s(self._account) + self._pixels_s()

    def _pixels_s(self) -> float:
        """Predicted seconds from labels of supervoxels to labels of all pixels."""
        assert self.scene is not None
        n_frames = self.scene.n_frames
        seconds = self._account.predict_s(*self._space.painting(n_frames * self.scene.n_pixels))
        if self._costs.is_carried(self.plan):
            seconds += self._account.predict_s(CARRYING, self._costs.carry_work(self.plan, n_frames))
        return seconds

    def finish(self, end_s: float, out: UInt8, like: Finish | None = None) -> tuple[Finish, RegionEvidence]:
        """Interpolate, expand and paint. The expansion is stopped by the deadline, or where it was in a run `like`."""
        assert self.scene is not None
        self._learn_asking()
        ledger = self._account.ledger
        cache = self._live.cache
        margins = self._space.margins
        clock = self._account.clock
        n_calls = 0
        latest_s = end_s - margins.finish * self._pixels_s() - margins.seconds

        def enough() -> bool:
            nonlocal n_calls
            n_calls += 1
            if like is not None:
                return like.n_moves is not None and n_calls >= like.n_moves
            return clock.now_s() > latest_s

        closed = self._closing(self.episode.state, self._worker.inputs, self._account, enough)
        self._paint(closed.labels, out)
        ledger.decisions = self.episode.n_decisions
        ledger.cache_hits = cache.hits
        ledger.cache_misses = cache.misses
        subsets = self.episode.state.subsets.copy()
        evidence = RegionEvidence(
            self.scene.supervoxels, self.plan.stride, len(out), subsets, closed.probabilities, closed.labels
        )
        return Finish(0, n_moves=closed.n_moves), evidence

    def _paint(self, labels: Int32, out: UInt8) -> None:
        """Write labels of all pixels to `out` (T, H, W)."""
        assert self.scene is not None
        ids = self.scene.supervoxels.ids
        threads = self._space.threads
        is_carried = self._costs.is_carried(self.plan)
        painted = np.empty(ids.shape, np.uint8) if is_carried or out.shape != ids.shape else out
        with self._account.stage(*self._space.painting(painted.size)):
            paint(labels, ids, painted, threads, self._space.settings.pixels_per_thread)
        if painted is not out:
            with self._account.stage(CARRYING, self._costs.carry_work(self.plan, len(ids))):
                carry(painted, self.plan.stride, out)

    def _learn_asking(self) -> None:
        """Update the price of H's predictions by those since the last call."""
        if self._worker.n_asked:
            self._space.prices.observe_stage("asking H", float(self._worker.n_asked), self._worker.asking_s)
        self._worker.n_asked = 0
        self._worker.asking_s = 0.0

    # What is kept

    @property
    def n_frames(self) -> int:
        """Number of frames of the window that exist."""
        return self._n_found

    @property
    def n_places(self) -> int:
        """Number of supervoxels."""
        return 0 if self.scene is None else len(self.scene.supervoxels)

    def trace(self) -> tuple[Sequence[int], tuple[int, int], int]:
        """Numbers of the frames that were labelled, their size, and the number of supervoxels."""
        n = 0 if self.scene is None else self.scene.n_frames
        return tuple(k * self.plan.stride for k in range(n)), self.plan.size, self.n_places

    def memory(self) -> WindowMemory | None:
        """What a later run needs to continue; None if there are no supervoxels."""
        if self.scene is None:
            return None
        state = self.episode.state
        return WindowMemory(self.scene.supervoxels, state.subsets, state.probabilities, self._worker.inputs)
