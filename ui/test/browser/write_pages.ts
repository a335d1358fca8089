// Writes the pages of the tests into a folder, to be opened by hand.
import {writePages} from './pages';

console.log(writePages(process.argv[2]!));
