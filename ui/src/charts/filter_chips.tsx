// What of the recording a view is about, if not all of it, with a way back.
import type {ViewProps} from '../shell/state';
import {choiceLabel} from '../shell/threads_filter';
import {rangeText} from '../shell/time_strip';

export function FilterChips({recording, state, change}: ViewProps) {
  const {range, thread} = state;
  if (range === null && thread === '') return null;
  return (
    <div class="filter-chips" role="group" aria-label="What this view is limited to">
      <span class="muted">Only</span>
      {range !== null && (
        <span class="chip">{rangeText(range, recording.head.moment_ns)}
          <button type="button" aria-label="Clear the range of time" onClick={() => change({range: null}, true)}>{'\u00d7'}</button></span>
      )}
      {thread !== '' && (
        <span class="chip"><bdi dir="ltr">{choiceLabel(recording.threads, thread)}</bdi>
          <button type="button" aria-label="All threads" onClick={() => change({thread: ''}, true)}>{'\u00d7'}</button></span>
      )}
    </div>
  );
}
