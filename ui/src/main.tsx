// Reads the data that the export put into this page, and shows it.
import {render} from 'preact';
import {bytesOfBase64, decodeProfile} from './data/decode';
import {decodeHead} from './data/head';
import {App} from './shell/app';

function block(id: string): Uint8Array {
  const element = document.getElementById(id);
  if (element === null) throw new Error('this page carries no recording; tarsier export --to html makes one that does');
  const bytes = bytesOfBase64(element.textContent ?? '');
  element.remove(); // the text is no longer needed and may be large
  return bytes;
}

const app = document.getElementById('app')!;
try {
  const head = decodeHead(block('tarsier-head'));
  const profile = decodeProfile(block('tarsier-flame'));
  if (head.title !== '') document.title = `${head.title} \u00b7 tarsier`;
  render(<App head={head} profile={profile} />, app);
} catch (error) {
  const message = document.createElement('p');
  message.setAttribute('role', 'alert');
  message.textContent = `The recording cannot be shown: ${error instanceof Error ? error.message : String(error)}.`;
  app.replaceChildren(message);
}
