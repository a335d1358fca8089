// The hottest methods as a real table: for those who read rather than look, and for screen readers.
import {useMemo, useState} from 'preact/hooks';
import type {View} from '../flame/facts';
import type {Palette} from '../flame/palette';
import {CLASS, FRAME_TYPES} from '../model/frame_types';
import {count, share} from '../model/format';
import {hottestMethods} from '../model/methods';
import {MethodButton} from './method_button';

const MOST = 100;

interface Props {
  readonly view: View;
  readonly palette: Palette;
  readonly query: string;
  readonly matches: Uint8Array | null; // by name: only these
  readonly onFind: (name: string) => void;
}

export function MethodTable({view, palette, query, matches, onFind}: Props) {
  const [by, setBy] = useState<'self' | 'total'>('self');
  const {profile, calls} = view;
  const table = useMemo(() => hottestMethods(calls, profile.names, by, MOST, matches), [calls, by, matches]);
  const whole = calls.total[0]!;
  const hasClasses = table.rows.some((row) => row.type === CLASS);
  const heading = (key: 'self' | 'total') => (
    <th scope="col" class="number" aria-sort={by === key ? 'descending' : 'none'}>
      <button type="button" onClick={() => setBy(key)}>{key}{by === key ? ' \u25be' : ''}</button>
    </th>
  );
  return (
    <section class="methods" aria-labelledby="methods-title">
      <h2 id="methods-title">{hasClasses ? 'Hottest classes and methods' : 'Hottest methods'}</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-labelledby="methods-title">
        <table>
          <thead>
            <tr>{heading('self')}{heading('total')}<th scope="col">method</th></tr>
          </thead>
          <tbody>
            {table.rows.map((row) => {
              const name = profile.names[row.name]!;
              const type = FRAME_TYPES[row.type]!;
              return (
                <tr key={row.name} class={query === `"${name}"` ? 'found' : ''}>
                  <td class="number">{share(row.self, whole)}</td>
                  <td class="number">{share(row.total, whole)}</td>
                  <td>
                    <MethodButton name={name} kind={type.name} paint={palette.types[type.name]!} onFind={onFind}
                      note={`${type.name}, ${count(row.samples)} ${view.events ?? 'samples'}`} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {table.count > table.rows.length && <p class="muted">{count(table.count - table.rows.length)} more methods</p>}
      </div>
    </section>
  );
}
