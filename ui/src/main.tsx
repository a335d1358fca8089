// Opens the recording, and shows it. Whatever goes wrong is said in words: the page is never blank.
import {render} from 'preact';
import {openRecording} from './data/open';
import {App} from './shell/app';
import {Guard} from './shell/guard';

const app = document.getElementById('app')!;
openRecording((progress) => render(<Guard><App {...progress} /></Guard>, app));
