// What a view shows, taken along: as text for the clipboard, as a picture for a file.
import {useState} from 'preact/hooks';

interface Props {
  readonly name: string; // of the file
  readonly text: () => string;
  readonly image?: () => HTMLCanvasElement | null;
}

// Without permission for the clipboard (pages from disk may have none) an old way still works.
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.setAttribute('aria-hidden', 'true');
    field.className = 'hidden';
    document.body.append(field);
    field.select();
    try {
      return document.execCommand('copy');
    } finally {
      field.remove();
    }
  }
}

function save(canvas: HTMLCanvasElement, name: string): Promise<boolean> {
  return new Promise((done) => canvas.toBlob((blob) => {
    if (blob === null) {
      done(false);
      return;
    }
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `${name.replace(/[^\w.-]+/g, '-').slice(0, 80)}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    done(true);
  }, 'image/png'));
}

const SAID_MS = 2000;

export function ExportButtons({name, text, image}: Props) {
  const [said, setSaid] = useState('');
  const tell = (what: string): void => {
    setSaid(what);
    setTimeout(() => setSaid(''), SAID_MS);
  };
  return (
    <span class="export">
      <span class="muted" role="status">{said}</span>
      <button type="button" title="Copy what is shown here as text, columns apart by tabs"
        onClick={() => void copy(text()).then((ok) => tell(ok ? 'copied' : 'the browser refused to copy'))}>Copy</button>
      {image !== undefined && (
        <button type="button" title="Save as a picture"
          onClick={() => {
            const canvas = image();
            if (canvas !== null) void save(canvas, name).then((ok) => tell(ok ? 'saved' : 'too large for a picture'));
          }}>PNG</button>
      )}
    </span>
  );
}

// Rows of cells as text: tabs between them, none inside.
export const asTsv = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => row.map((cell) => String(cell).replace(/[\t\r\n]+/g, ' ').replace(/\u202f/g, ' ')).join('\t')).join('\n') + '\n';
