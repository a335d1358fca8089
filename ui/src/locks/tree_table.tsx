// The aggregation tree as a table: only the rows that can be seen are made.
import {useLayoutEffect, useRef} from 'preact/hooks';
import {useVirtualRows} from '../charts/virtual_rows';
import type {Threads} from '../data/recording';
import {clipped} from '../data/visible_text';
import {count, duration, share} from '../model/format';
import {ASPECT_WORDS, labelOf, shortLabelOf, SPECIAL_MEANING} from './aspects';
import type {LockTree} from './lock_tree';
import type {TreeRow} from './tree_rows';

interface Props {
  readonly tree: LockTree;
  readonly threads: Threads;
  readonly rows: readonly TreeRow[];
  readonly selected: number; // node, 0: all
  readonly onSelect: (node: number) => void;
  readonly onToggle: (node: number, isOpen: boolean) => void;
}

const ROW = 24;

export function TreeTable({tree, threads, rows, selected, onSelect, onToggle}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const seen = useVirtualRows(box, rows.length, ROW);
  const at = rows.findIndex((row) => row.node === selected);
  const scrollTo = (row: number): void => {
    const element = box.current;
    if (element === null || row < 0) return;
    const top = row * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + 2 * ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + 2 * ROW - element.clientHeight;
  };
  useLayoutEffect(() => scrollTo(at), [selected, tree]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[at];
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 240) / ROW) - 2);
    const go = (to: number): void => {
      const next = rows[Math.min(Math.max(to, 0), rows.length - 1)];
      if (next !== undefined) onSelect(next.node);
    };
    switch (event.key) {
      case 'ArrowDown': go(at + 1); break;
      case 'ArrowUp': go(at < 0 ? 0 : at - 1); break;
      case 'PageDown': go(at + page); break;
      case 'PageUp': go(at - page); break;
      case 'Home': go(0); break;
      case 'End': go(rows.length - 1); break;
      case 'ArrowRight':
        if (row?.hasChildren && !row.isOpen) onToggle(row.node, true);
        else if (row?.hasChildren) go(at + 1);
        break;
      case 'ArrowLeft':
        if (row?.isOpen) onToggle(row.node, false);
        else if (row && tree.parent[row.node]! > 0) onSelect(tree.parent[row.node]!);
        break;
      case 'Enter':
      case ' ':
        if (row?.hasChildren) onToggle(row.node, !row.isOpen);
        break;
      case 'Escape':
        if (selected === 0) return;
        onSelect(0);
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const total = tree.blocked[0]!;
  return (
    <div class="table-scroll lock-tree" ref={box} tabIndex={0} data-main role="treegrid" aria-label="Contentions by the chosen aspects"
      aria-rowcount={rows.length + 1} aria-activedescendant={at >= seen.first && at < seen.end ? `lock-row-${selected}` : undefined}
      onKeyDown={onKeyDown}>
      <table role="presentation">
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            <th role="columnheader">{tree.by.map((aspect) => ASPECT_WORDS[aspect]).join(' \u203a ')}</th>
            <th role="columnheader" class="number wide">Blocked</th>
            <th role="columnheader" class="number wide">Share</th>
            <th role="columnheader" class="number">Times</th>
            <th role="columnheader" class="number">Mean</th>
            <th role="columnheader" class="number" title="Half of them are not longer">p50</th>
            <th role="columnheader" class="number" title="95 % of them are not longer">p95</th>
            <th role="columnheader" class="number">Max</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {seen.above > 0 && <tr role="presentation" aria-hidden="true" style={{height: `${seen.above}px`}}><td colSpan={8} role="presentation" /></tr>}
          {rows.slice(seen.first, seen.end).map((row, i) => (
            <Row key={row.node} tree={tree} threads={threads} row={row} index={seen.first + i} total={total}
              isSelected={row.node === selected} onSelect={onSelect} onToggle={onToggle} />
          ))}
          {seen.below > 0 && <tr role="presentation" aria-hidden="true" style={{height: `${seen.below}px`}}><td colSpan={8} role="presentation" /></tr>}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Omit<Props, 'rows' | 'selected'> {
  readonly row: TreeRow;
  readonly index: number;
  readonly total: number;
  readonly isSelected: boolean;
}

function Row({tree, threads, row, index, total, isSelected, onSelect, onToggle}: RowProps) {
  const {node, level} = row;
  const aspect = tree.by[level - 1]!;
  const key = tree.key[node]!;
  const full = labelOf(tree.data, threads, aspect, key);
  const meaning = SPECIAL_MEANING[key];
  const blocked = tree.blocked[node]!;
  const times = tree.times[node]!;
  const {p50, p95} = tree.spread(node);
  return (
    <tr role="row" id={`lock-row-${node}`} aria-level={level} aria-rowindex={index + 2} aria-posinset={row.place} aria-setsize={row.siblings}
      aria-expanded={row.hasChildren ? row.isOpen : undefined} aria-selected={isSelected} class={isSelected ? 'selected' : undefined}
      onClick={() => onSelect(node)} onDblClick={() => row.hasChildren && onToggle(node, !row.isOpen)}>
      <td role="gridcell" class="lock-name" title={clipped(meaning === undefined ? full : `${full}: ${meaning}`, 1500)}
        style={{paddingLeft: `${6 + (level - 1) * 16}px`}}>
        {row.hasChildren
          ? <span class={`twist${row.isOpen ? ' open' : ''}`} aria-hidden="true" onClick={(event) => {
              event.stopPropagation();
              onToggle(node, !row.isOpen);
            }} />
          : <span class="twist none" aria-hidden="true" />}
        <span class={`aspect-mark ${aspect.split('-')[0]!}`} aria-hidden="true" />
        <bdi dir="ltr">{clipped(shortLabelOf(tree.data, threads, aspect, key), 300)}</bdi>
      </td>
      <td role="gridcell" class="number">{duration(blocked)}</td>
      <td role="gridcell" class="number bar-cell">
        <span class="bar" style={{width: `${total > 0 ? (100 * blocked) / total : 0}%`}} aria-hidden="true" />
        <span>{share(blocked, total)}</span>
      </td>
      <td role="gridcell" class="number">{count(times)}</td>
      <td role="gridcell" class="number">{duration(times > 0 ? Math.floor(blocked / times) : 0)}</td>
      <td role="gridcell" class="number">{duration(p50)}</td>
      <td role="gridcell" class="number">{duration(p95)}</td>
      <td role="gridcell" class="number">{duration(tree.longest[node]!)}</td>
    </tr>
  );
}
