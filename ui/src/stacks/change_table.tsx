// Of a comparison: the methods that changed most, as a real table.
import {useMemo} from 'preact/hooks';
import {changeText, weightText, type View} from '../flame/facts';
import type {Palette} from '../flame/palette';
import {mostChanged} from '../model/changes';
import {count} from '../model/format';
import {MethodButton} from './method_button';

const MOST = 100;

interface Props {
  readonly view: View;
  readonly palette: Palette;
  readonly query: string;
  readonly matches: Uint8Array | null; // by name: only these
  readonly onFind: (name: string) => void;
}

export function ChangeTable({view, palette, query, matches, onFind}: Props) {
  const {profile, calls, coloring} = view;
  const table = useMemo(() => mostChanged(calls, profile.names.length, MOST, matches), [calls, matches]);
  return (
    <section class="methods" aria-labelledby="methods-title">
      <h2 id="methods-title">Most changed methods (self)</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-labelledby="methods-title">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">before</th><th scope="col" class="number">after</th>
              <th scope="col">method</th>
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => {
              const name = profile.names[row.name]!;
              const kind = coloring.kinds[row.change]!;
              return (
                <tr key={row.name} class={query === `"${name}"` ? 'found' : ''}>
                  <td class="number">{weightText(view, row.before)}</td>
                  <td class="number">{weightText(view, row.after)}</td>
                  <td>
                    <MethodButton name={name} kind={kind.name} paint={coloring.paint(palette, row.change)} onFind={onFind}
                      note={`${changeText(view, (row.before + row.after) / 2, row.before)}, ${kind.name}`} />
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
