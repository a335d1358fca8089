// The verdict: what the command would say first, with a way to where it comes from.
import {clipped} from '../data/visible_text';
import {withMore} from '../shell/page_state';
import type {Change, ViewProps} from '../shell/state';

interface Way {
  readonly begins: RegExp;
  readonly words: string;
  readonly change: Change;
  readonly needs: (head: ViewProps['recording']['head']) => boolean;
}

const has = (name: string) => (head: ViewProps['recording']['head']): boolean => head.profiles.some((profile) => profile.name === name);
const always = (): boolean => true;

// What a line is about is known by its first words; a line that is not known has no way.
const WAYS: readonly Way[] = [
  {begins: /^Hottest method/, words: 'Methods', change: {view: 'methods', weight: 'cpu'}, needs: has('cpu')},
  {begins: /^Hottest thread/, words: 'Threads', change: {view: 'threads'}, needs: always},
  {begins: /^Allocated/, words: 'Allocation', change: {view: 'flame', weight: 'alloc'}, needs: has('alloc')},
  {begins: /^Waited/, words: 'Waits', change: {view: 'flame', weight: 'waits'}, needs: has('waits')},
  {begins: /^(Lock|Deadlock|Blocked)/, words: 'Locks', change: {view: 'locks', query: ''}, needs: always},
  {begins: /^(Sampling|Recording|Warning|Own cost)/, words: 'Quality', change: {view: 'quality'}, needs: always},
];

export function Verdict({recording, state, change}: ViewProps) {
  const {head} = recording;
  if (head.verdict.length === 0) return null;
  return (
    <section class="verdict-panel" aria-label="Verdict">
      <h2 class="hidden">Verdict</h2>
      <ol>
        {head.verdict.map((line, i) => {
          const way = WAYS.find(({begins, needs}) => begins.test(line) && needs(head));
          const isWarning = line.startsWith('Warning');
          const isMethod = /^Sampling/.test(line);
          return (
            <li key={i} class={i === 0 ? 'verdict-first' : isWarning ? 'verdict-warning' : isMethod ? 'muted' : undefined}>
              <Line line={line} />
              {way !== undefined && (
                <button type="button" class="link-button" onClick={() => change({...way.change, ...withMore(state, {})}, true)}>
                  {way.words}{'\u00a0\u203a'}
                </button>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

// "Hottest method: ..." with its subject in bold.
function Line({line}: {line: string}) {
  const colon = line.indexOf(': ');
  if (colon <= 0 || colon > 60) return <bdi dir="ltr">{clipped(line, 600)}</bdi>;
  return <bdi dir="ltr"><strong>{line.slice(0, colon + 1)}</strong>{clipped(line.slice(colon + 1), 600)}</bdi>;
}
