// A table of any length: only the rows in sight are in the document. One row is active; the arrow keys move it.
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useRef, useState} from 'preact/hooks';

export interface TableColumn {
  readonly id: string;
  readonly label: string;
  readonly title?: string;
  readonly isNumber?: boolean;
  readonly width?: number; // pixels; without: what is left
  readonly canSort?: boolean;
  readonly cell: (row: number) => ComponentChildren;
}

export interface TreeRow {
  readonly level: number;
  readonly isOpen: boolean | null; // null: there is nothing below it
}

interface Props {
  readonly id: string;
  readonly label: string;
  readonly rows: number;
  readonly columns: readonly TableColumn[];
  readonly active: number; // -1: none
  readonly sort?: {readonly by: string; readonly falling: boolean};
  readonly onSort?: (column: string) => void;
  readonly onActive: (row: number) => void;
  readonly onKey?: (key: string, row: number) => boolean; // true: it was one of the view's
  readonly treeRow?: (row: number) => TreeRow;
  readonly rowClass?: (row: number) => string;
  readonly isMain?: boolean;
}

export const ROW_HEIGHT = 22;
const BEYOND = 8; // rows outside of what is seen, so that scrolling shows no gaps
const MOST_ROWS = 1_000_000; // browsers have a limit of height

export function VirtualTable(props: Props) {
  const {columns, active, treeRow} = props;
  const rows = Math.min(props.rows, MOST_ROWS);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const measure = (): void => setHeight(box.current!.clientHeight);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  // The active row is always in sight.
  useLayoutEffect(() => {
    if (active < 0) return;
    const element = box.current!;
    const at = active * ROW_HEIGHT;
    const room = element.clientHeight - ROW_HEIGHT; // the heading covers one
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + ROW_HEIGHT > element.scrollTop + room) element.scrollTop = at + ROW_HEIGHT - room;
    setTop(element.scrollTop);
  }, [active, rows]);

  const first = Math.max(0, Math.min(Math.floor(top / ROW_HEIGHT) - BEYOND, rows - 1));
  const end = Math.min(rows, Math.ceil((top + height) / ROW_HEIGHT) + BEYOND);
  const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 2);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).closest('thead')) return;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows - 1,
    };
    if (props.onKey?.(event.key, active) !== true) {
      if (moves[event.key] === undefined || rows === 0) return;
      props.onActive(Math.min(Math.max(moves[event.key]!, 0), rows - 1));
    }
    event.preventDefault();
  };
  const span = columns.length;
  const visible = Array.from({length: Math.max(end - first, 0)}, (_, i) => first + i);
  const rowId = (row: number): string => `${props.id}-${row}`;
  const isShown = active >= first && active < end;
  const sortOf = (column: TableColumn): 'ascending' | 'descending' | 'none' | undefined => {
    if (column.canSort !== true || props.sort === undefined) return undefined;
    return props.sort.by !== column.id ? 'none' : props.sort.falling ? 'descending' : 'ascending';
  };
  return (
    <div class="virtual" ref={box} onScroll={() => setTop(box.current!.scrollTop)} onKeyDown={onKeyDown}>
      <table role={treeRow ? 'treegrid' : 'grid'} tabIndex={0} aria-label={props.label} aria-rowcount={props.rows + 1}
        aria-activedescendant={isShown ? rowId(active) : undefined} data-main={props.isMain === true ? '' : undefined}>
        <colgroup>{columns.map(({id, width}) => <col key={id} style={width === undefined ? {} : {width: `${width}px`}} />)}</colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.id} scope="col" class={column.isNumber ? 'number' : ''} title={column.title} aria-sort={sortOf(column)}>
                {column.canSort
                  ? <button type="button" onClick={() => props.onSort?.(column.id)}>
                      {column.label}{props.sort?.by === column.id ? (props.sort.falling ? ' \u25be' : ' \u25b4') : ''}
                    </button>
                  : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true"><td colSpan={span} class="space" style={{height: `${first * ROW_HEIGHT}px`}} /></tr>}
          {visible.map((row) => {
            const inTree = treeRow?.(row);
            return (
              <tr key={row} id={rowId(row)} aria-rowindex={row + 2} aria-selected={row === active}
                aria-level={inTree?.level} aria-expanded={inTree?.isOpen ?? undefined}
                class={`${row === active ? 'active ' : ''}${props.rowClass?.(row) ?? ''}`} onClick={() => props.onActive(row)}>
                {columns.map((column) => <td key={column.id} class={column.isNumber ? 'number' : ''}>{column.cell(row)}</td>)}
              </tr>
            );
          })}
          {end < rows && <tr aria-hidden="true"><td colSpan={span} class="space" style={{height: `${(rows - end) * ROW_HEIGHT}px`}} /></tr>}
        </tbody>
      </table>
    </div>
  );
}

// A share as a number with a bar behind it.
export function ShareCell({share, text}: {share: number; text: string}) {
  return (
    <span class="share">
      <span class="bar" aria-hidden="true" style={{width: `${Math.min(Math.max(share, 0), 1) * 100}%`}} />
      <span>{text}</span>
    </span>
  );
}
