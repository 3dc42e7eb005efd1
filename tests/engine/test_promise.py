"""What is said of the accuracy to expect."""

from budgetseg.engine.promise import Promise


def test_a_promise_is_in_whole_percents_with_its_interval() -> None:
    line = Promise(0.844, 0.791, 0.882, True).in_words("camvid")
    assert line == "Expected: about 84 % of the pixels right, between 79 % and 88 %."


def test_out_of_domain_says_only_what_is_not_to_be_expected() -> None:
    line = Promise(0.6, 0.0, 0.7, False).in_words("camvid")
    assert line == (
        "This video does not look like what 'camvid' was trained on; expect less than 70 % of the pixels right."
    )


def test_a_promise_without_interval_has_the_mean_over_classes() -> None:
    line = Promise(0.8, class_average=0.5).in_words("camvid")
    assert line == "Expected: about 80 % of the pixels right, 50 % on average over classes."
