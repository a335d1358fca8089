// All methods as one table.
import {useMemo, useState} from 'preact/hooks';
import {intervalText, weightOf} from '../flame/facts';
import {afterOf, changeBetween, CHANGES} from '../model/changes';
import {FRAME_TYPES} from '../model/frame_types';
import {count, share} from '../model/format';
import {methodsOf, orderMethods, type MethodOrder} from '../model/methods';
import {asTsv, ExportButtons} from '../shell/export_buttons';
import {linkTo, withMore} from '../shell/page_state';
import {ShareCell, VirtualTable, type TableColumn} from '../shell/virtual_table';
import {ExactNote} from './exact_note';
import {MethodLink} from './method_button';
import type {StackViewProps} from './stack_views';

const MOST_COPIED = 10_000;
const most = (column: Float64Array): number => column.reduce((a, b) => Math.max(a, b), 1e-9);

export function MethodsView({recording, stacks, state, change, palette}: StackViewProps) {
  const {profile, calls, unit, coloring, matches} = stacks;
  const isCompared = profile.nodes.before !== null;
  const sorted = /^(-?)(\w+)$/.exec(state.more['methods.sort'] ?? '');
  const by = (sorted?.[2] ?? (isCompared ? 'change' : 'self')) as MethodOrder;
  const falling = sorted?.[1] !== '-';
  const [active, setActive] = useState(-1);

  const methods = useMemo(() => methodsOf(calls, profile.names.length), [calls]);
  const order = useMemo(() => {
    const found = orderMethods(methods, profile.names, by, matches);
    return falling ? found : found.slice().reverse();
  }, [methods, by, falling, matches]);
  const whole = calls.total[0]!;
  const [mostSelf, mostTotal] = useMemo(() => [most(methods.self), most(methods.total)], [methods]);
  const self = (row: number): number => methods.self[order[row]!]!;
  const total = (row: number): number => methods.total[order[row]!]!;
  const callersOf = (name: number) => ({view: 'callers', ...withMore(state, {'callers.method': profile.names[name]!})});
  const method = (row: number) => {
    const name = order[row]!;
    const kind = isCompared
      ? changeBetween(methods.before[name]!, afterOf(methods.self[name]!, methods.before[name]!), methods.samples[name]!)
      : methods.type[name]!;
    const kindName = isCompared ? CHANGES[kind]!.name : FRAME_TYPES[kind]!.name;
    return <MethodLink name={profile.names[name]!} kind={kindName} paint={coloring.paint(palette, kind)}
      href={linkTo(state, callersOf(name))} note="callers and callees" />;
  };
  const weight = (value: number): string => weightOf(unit, value);
  // Only what was sampled may be off by chance.
  const interval = (id: string, what: string, of: (name: number) => string): TableColumn[] => (calls.sampled === 0 ? [] : [
    {id, label: '95 % sure', isNumber: true, width: 96, title: `The true share of ${what} is in here with a probability of 95 %`,
     cell: (row) => of(order[row]!)}]);
  const columns: TableColumn[] = isCompared ? [
    {id: 'before', label: 'self before', isNumber: true, canSort: true, width: 88, cell: (row) => weight(methods.before[order[row]!]!)},
    {id: 'after', label: 'after', isNumber: true, canSort: true, width: 76,
     cell: (row) => weight(afterOf(self(row), methods.before[order[row]!]!))},
    {id: 'change', label: 'change', isNumber: true, canSort: true, width: 84, title: 'Of itself; what may be chance comes last',
     cell: (row) => differenceText(weight, methods.before[order[row]!]!, afterOf(self(row), methods.before[order[row]!]!))},
    {id: 'factor', label: 'factor', isNumber: true, width: 70,
     cell: (row) => factorText(methods.before[order[row]!]!, afterOf(self(row), methods.before[order[row]!]!))},
    {id: 'totalBefore', label: 'total before', isNumber: true, width: 90, cell: (row) => weight(methods.totalBefore[order[row]!]!)},
    {id: 'totalAfter', label: 'after', isNumber: true, width: 76, cell: (row) => weight(afterOf(total(row), methods.totalBefore[order[row]!]!))},
    {id: 'totalChange', label: 'change', isNumber: true, width: 84,
     cell: (row) => differenceText(weight, methods.totalBefore[order[row]!]!, afterOf(total(row), methods.totalBefore[order[row]!]!))},
    {id: 'samples', label: stacks.events, isNumber: true, canSort: true, width: 80, cell: (row) => count(methods.samples[order[row]!]!)},
    {id: 'name', label: 'method', canSort: true, cell: method},
  ] : [
    {id: 'self', label: 'self', isNumber: true, canSort: true, width: 84, cell: (row) => weight(self(row))},
    {id: 'selfShare', label: 'self %', isNumber: true, width: 96, cell: (row) => <ShareCell share={self(row) / mostSelf} text={share(self(row), whole)} />},
    ...interval('selfInterval', 'self', (name) => intervalText(calls, methods.self[name]!, methods.samples[name]!)),
    {id: 'total', label: 'total', isNumber: true, canSort: true, width: 84, cell: (row) => weight(total(row))},
    {id: 'totalShare', label: 'total %', isNumber: true, width: 96, cell: (row) => <ShareCell share={total(row) / mostTotal} text={share(total(row), whole)} />},
    ...interval('totalInterval', 'total', (name) => intervalText(calls, methods.total[name]!, methods.totalSamples[name]!)),
    {id: 'samples', label: stacks.events, isNumber: true, canSort: true, width: 80, title: 'With the method innermost',
     cell: (row) => count(methods.samples[order[row]!]!)},
    {id: 'name', label: 'method', canSort: true, cell: method},
  ];
  const sort = (column: string): void =>
    change(withMore(state, {'methods.sort': column === by && falling ? `-${column}` : column}));
  const text = (): string => asTsv([
    isCompared ? ['self before', 'self after', 'total before', 'total after', 'samples', 'method'] : ['self', 'self share', 'total', 'total share', 'samples', 'method'],
    ...Array.from(order.subarray(0, MOST_COPIED), (name) => (isCompared
      ? [methods.before[name]!, afterOf(methods.self[name]!, methods.before[name]!), methods.totalBefore[name]!,
         afterOf(methods.total[name]!, methods.totalBefore[name]!), methods.samples[name]!, profile.names[name]!]
      : [methods.self[name]!, (methods.self[name]! / whole).toFixed(6), methods.total[name]!, (methods.total[name]! / whole).toFixed(6),
         methods.samples[name]!, profile.names[name]!]))]);
  return (
    <section class="full" aria-labelledby="methods-title">
      <div class="view-tools">
        <h2 id="methods-title">{count(order.length)} {matches === null ? 'methods' : 'methods that match'}{' '}
          <span class="muted">of {weight(whole)}, {count(calls.samples[0]!)} {stacks.events}<ExactNote text={stacks.exact} /></span></h2>
        <ExportButtons name={`${recording.head.title}-methods`} text={text} />
      </div>
      <VirtualTable id="method" label="Methods" rows={order.length} columns={columns} active={Math.min(active, order.length - 1)} isMain
        onActive={setActive} sort={{by, falling}} onSort={sort}
        onKey={(key, row) => {
          if (key !== 'Enter' || row < 0) return false;
          change(callersOf(order[row]!), true);
          return true;
        }} />
    </section>
  );
}

export function differenceText(weight: (value: number) => string, before: number, after: number): string {
  return before === after ? '' : `${after < before ? '\u2212' : '+'}${weight(Math.abs(after - before))}`;
}

export function factorText(before: number, after: number): string {
  if (before === 0 || after === 0) return before === after ? '' : before === 0 ? 'new' : 'gone';
  const factor = after / before;
  return `\u00d7${factor >= 100 ? factor.toFixed(0) : factor >= 10 ? factor.toFixed(1) : factor.toFixed(2)}`;
}
