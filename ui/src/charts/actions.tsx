// What can be done with every drawing: copy what it says as text, save it as a picture, read it as a table.
import {useRef, useState} from 'preact/hooks';

export interface Actions {
  readonly name: string; // of the file, and in labels: "lanes"
  readonly text: () => string;
  readonly canvas?: () => HTMLCanvasElement | null;
  readonly table?: {readonly shown: boolean; readonly toggle: () => void};
}

// Pages from disk may be refused the clipboard: then by a selected field.
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.style.position = 'fixed';
    field.style.opacity = '0';
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

export function savePicture(canvas: HTMLCanvasElement, name: string): Promise<boolean> {
  return new Promise((done) => {
    canvas.toBlob((blob) => {
      if (blob === null) {
        done(false);
        return;
      }
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = `tarsier-${name}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      done(true);
    }, 'image/png');
  });
}

export function ChartActions({name, text, canvas, table}: Actions) {
  const [said, setSaid] = useState('');
  const timer = useRef(0);
  const say = (words: string): void => {
    setSaid(words);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(''), 3000);
  };
  const onCopy = (): void => {
    void copyText(text()).then((done) => say(done ? 'Copied' : 'The browser refuses to copy'));
  };
  const onSave = (): void => {
    const drawing = canvas?.();
    if (!drawing) return;
    void savePicture(drawing, name).then((done) => say(done ? 'Saved' : 'The browser refuses to save'));
  };
  return (
    <div class="actions chart-actions">
      <span role="status" class="muted">{said}</span>
      {table && <button type="button" aria-pressed={table.shown} onClick={table.toggle} title={`Show ${name} as a table`} aria-label={`Show ${name} as a table`}>Table</button>}
      <button type="button" onClick={onCopy} title={`Copy ${name} as text`} aria-label={`Copy ${name} as text`}>Copy</button>
      {canvas && <button type="button" onClick={onSave} title={`Save ${name} as a picture`} aria-label={`Save ${name} as PNG`}>PNG</button>}
    </div>
  );
}

// Columns for people who paste into a terminal or a mail: numbers at the right.
export function textTable(rows: readonly (readonly string[])[], right: readonly boolean[]): string {
  const widths = right.map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows.map((row) => row.map((cell, i) => (right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
    .join('  ').trimEnd()).join('\n') + '\n';
}
