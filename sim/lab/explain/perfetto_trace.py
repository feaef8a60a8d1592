# SPDX-License-Identifier: BSD-2-Clause
"""Writes a trace for ui.perfetto.dev: tracks in groups, with slices, instants and counters.

Times are nanoseconds. Slices of a track must nest.
"""

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

SEQUENCE = 1  # all packets have the same writer


class Trace:
    def __init__(self):
        self._builder = TraceProtoBuilder()
        self._tracks = 0
        # time, kind, track, name, details
        self._events: list[tuple[int, TrackEvent.Type, int, str, dict]] = []
        self._flows: dict[str, int] = {}

    def track(self, name: str, group: int | None = None, counter: bool = False) -> int:
        """Add a track, or a group for other tracks; they are shown in the order of these calls."""
        self._tracks += 1
        descriptor = self._builder.add_packet().track_descriptor
        descriptor.uuid, descriptor.name = self._tracks, name
        descriptor.sibling_order_rank = self._tracks
        descriptor.child_ordering = TrackDescriptor.EXPLICIT
        if group:
            descriptor.parent_uuid = group
        if counter:
            descriptor.counter.SetInParent()
        return self._tracks

    def slice(self, track: int, begin: int, end: int, name: str, flow: str = "", **details: int | str):
        """If slices begin together, add the outer ones first. Arrows join slices of the same `flow`."""
        if flow:
            details = {"flow": self._flows.setdefault(flow, len(self._flows) + 1), **details}
        self._events.append((begin, TrackEvent.TYPE_SLICE_BEGIN, track, name, details))
        self._events.append((end, TrackEvent.TYPE_SLICE_END, track, "", {}))

    def count(self, track: int, time: int, value: int):
        """Add a counter's value from this time on."""
        self._events.append((time, TrackEvent.TYPE_COUNTER, track, "", {"value": value}))

    def instant(self, track: int, time: int, name: str, **details: int | str):
        self._events.append((time, TrackEvent.TYPE_INSTANT, track, name, details))

    def bytes(self) -> bytes:
        # At equal times, slices end before others begin; otherwise the order of the calls is kept.
        for time, kind, track, name, details in sorted(
            self._events, key=lambda event: (event[0], event[1] != TrackEvent.TYPE_SLICE_END)
        ):
            packet = self._builder.add_packet()
            packet.timestamp = time
            packet.trusted_packet_sequence_id = SEQUENCE
            packet.track_event.type, packet.track_event.track_uuid = kind, track
            if name:
                packet.track_event.name = name
            if kind == TrackEvent.TYPE_COUNTER:
                packet.track_event.counter_value = details["value"]
                continue
            for key, value in details.items():
                if key == "flow":
                    packet.track_event.flow_ids.append(value)
                    continue
                annotation = packet.track_event.debug_annotations.add()
                annotation.name = key
                if isinstance(value, int):
                    annotation.int_value = value
                else:
                    annotation.string_value = value
        return self._builder.serialize()
