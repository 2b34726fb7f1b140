"""Vowpal Wabbit text as a source: `label weight initial 'tag |namespace feature:value ...`, a line each."""

from __future__ import annotations

from riata import _core
from riata.sources.io.lines import Chunk
from riata.sources.text.named import VALUE_MESSAGES, NamedTextSource
from riata.sources.text.text import Parsed, parsed

_FOREIGN = "; Riata learns from one number as the label: `1 |...`, `-1 2.5 |...`"

_MESSAGES = VALUE_MESSAGES | {
    "json": "this is JSON, not Vowpal Wabbit text; objects, one a line, can be read with "
    "--format jsonl (format='jsonl')",
    "bar_missing": "there is no bar (|) in this line; features stand behind one: `1 |words a b`, "
    "and an example without any is written `1 |`",
    "tab": "a tab before the bar, where Vowpal Wabbit skips what stands before it; use a space",
    "tag_not_last": "{text} stands between the tag and the bar; the tag comes last",
    "label_missing": "the label is missing; put a number before the bar",
    "label_touches_bar": "{text} touches the bar, which makes it the tag of the line, not its "
    "label; put a space between them",
    "label_syntax": "expected a number as the label, found {text}",
    "label_not_finite": "the label is {text}; labels must be finite numbers",
    "label_too_large": "the label {text} is beyond what a 64-bit float holds",
    "label_long": "{text} is one word too many; before the bar stand label, weight, initial "
    "prediction and tag",
    "label_shared": "{text} starts an example of several lines (contextual bandit or "
    "label-dependent features), which is not supported" + _FOREIGN,
    "label_ccb": "a conditional contextual bandit example, which is not supported" + _FOREIGN,
    "label_slates": "a slates example, which is not supported" + _FOREIGN,
    "label_continuous": "a continuous-action (ca) label, which is not supported" + _FOREIGN,
    "label_several": "{text} is a multi-label, which is not supported" + _FOREIGN,
    "label_costs": "{text} is a cost-sensitive label (class:cost), which is not supported"
    + _FOREIGN,
    "label_bandit": "{text} is a contextual bandit label (action:cost:probability), which is not "
    "supported" + _FOREIGN,
    "weight_syntax": "expected a number as the weight behind the label, found {text}",
    "weight_not_finite": "the weight is {text}; weights must be finite numbers",
    "weight_negative": "the weight is {text}; weights must not be negative",
    "initial_syntax": "expected a number as the initial prediction behind the weight, found {text}",
    "initial_not_finite": "the initial prediction is {text}; it must be a finite number",
    "initial_too_large": "the initial prediction {text} is beyond what a 32-bit float holds (3.4e38)",
    "namespace_name": "expected the name of a namespace behind the bar, found {text}; "
    "a namespace without a name has no weight",
    "namespace_weight_missing": "the namespace has no weight behind its colon",
    "namespace_weight_syntax": "expected a number as the weight of the namespace, found {text}",
    "weighted_too_large": "the value of {text} times the weight of its namespace is beyond what a "
    "32-bit float holds (3.4e38); rescale it",
    "value_missing": "{text} has no value behind the colon",
    "value_syntax": "expected a number behind the colon, found {text}; "
    "for a feature with a word as its value write name=word",
}


class VwSource(NamedTextSource):
    """Files of Vowpal Wabbit text, or `-` for standard input, read one after another.

    The name of a feature is `namespace^feature`, or `feature` where the namespace has none. A
    feature that a line repeats adds up. Weights of namespaces multiply values, importance weights
    become the weights of the Block, initial predictions its offsets, and tags are passed over. Of
    the labels only plain numbers are known; those of Vowpal Wabbit's other tasks are refused by name.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.vw"
    >>> _ = path.write_text("1 'mail.1 |h from |b offer:2\\n-1 0.5 |b hello\\n")
    >>> [block] = VwSource([str(path)])
    >>> [block.name_of(i) for i in range(block.nnz)], block.values, block.weights
    (['h^from', 'b^offer', 'b^hello'], array([1., 2., 1.], dtype=float32), array([1. , 0.5]))
    """

    format = "Vowpal Wabbit"
    messages = _MESSAGES
    chunk_bytes = 2 << 20

    def _parse(self, chunk: Chunk) -> Parsed:
        rows = _core.parse_vw(chunk.buffer, chunk.size, self._labelled, self._names, self._crosses)
        return parsed(rows, chunk.path)
