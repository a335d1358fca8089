// The lanes as a table: what each thread came to in the time that is shown.
import {useMemo, useRef, useState} from 'preact/hooks';
import {textTable} from '../charts/actions';
import {useVirtualRows} from '../charts/virtual_rows';
import {THREAD_KINDS, type Threads} from '../data/recording';
import {clipped} from '../data/visible_text';
import {count, duration} from '../model/format';
import {threadLabel} from '../shell/threads_filter';
import type {Sums} from './lane_data';

const ROW = 24;

type Column = 'cpu' | 'blocked' | 'blockedTimes' | 'waiting' | 'waits';
const COLUMNS: readonly {readonly id: Column; readonly label: string; readonly isTime: boolean}[] = [
  {id: 'cpu', label: 'CPU', isTime: true}, {id: 'blocked', label: 'Blocked', isTime: true}, {id: 'blockedTimes', label: 'Contentions', isTime: false},
  {id: 'waiting', label: 'Waiting', isTime: true}, {id: 'waits', label: 'Waits', isTime: false},
];

const cell = (sums: Sums, column: Column, isTime: boolean, thread: number): string => {
  const value = sums[column][thread]!;
  return value === 0 ? '' : isTime ? duration(value) : count(value);
};

export function threadText(threads: Threads, sums: Sums, shown: readonly number[]): string {
  return textTable([['thread', 'kind', ...COLUMNS.map(({label}) => label.toLowerCase())],
    ...shown.map((thread) => [threadLabel(threads, thread), THREAD_KINDS[threads.kind[thread]!] ?? '',
                              ...COLUMNS.map(({id, isTime}) => cell(sums, id, isTime, thread))])],
    [false, false, ...COLUMNS.map(() => true)]);
}

export function ThreadTable({threads, sums, shown, onThread}: {
  threads: Threads; sums: Sums; shown: readonly number[]; onThread: (thread: number) => void;
}) {
  const [by, setBy] = useState<Column>('cpu');
  const sorted = useMemo(() => [...shown].sort((a, b) => sums[by][b]! - sums[by][a]! || a - b), [shown, sums, by]);
  const box = useRef<HTMLDivElement>(null);
  const seen = useVirtualRows(box, sorted.length, ROW);
  return (
    <div class="table-scroll plain-table thread-table" ref={box} tabIndex={0} data-main role="region" aria-label="Threads and what they did">
      <table>
        <caption class="hidden">Threads in the time that is shown</caption>
        <thead>
          <tr>
            <th scope="col">Thread</th><th scope="col">Kind</th><th scope="col">Pool</th>
            {COLUMNS.map(({id, label}) => (
              <th key={id} scope="col" class="number" aria-sort={by === id ? 'descending' : undefined}>
                <button type="button" class="sort" onClick={() => setBy(id)}>{label}</button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {seen.above > 0 && <tr aria-hidden="true" style={{height: `${seen.above}px`}}><td colSpan={8} /></tr>}
          {sorted.slice(seen.first, seen.end).map((thread) => (
            <tr key={thread} style={{height: `${ROW}px`}}>
              <td><button type="button" class="link-button" onClick={() => onThread(thread)} title="Filter the page by this thread">
                <bdi dir="ltr">{threadLabel(threads, thread)}</bdi></button></td>
              <td>{THREAD_KINDS[threads.kind[thread]!]}</td>
              <td><bdi dir="ltr">{clipped(threads.pool[thread]!, 60)}</bdi></td>
              {COLUMNS.map(({id, isTime}) => <td key={id} class="number">{cell(sums, id, isTime, thread)}</td>)}
            </tr>
          ))}
          {seen.below > 0 && <tr aria-hidden="true" style={{height: `${seen.below}px`}}><td colSpan={8} /></tr>}
        </tbody>
      </table>
    </div>
  );
}
