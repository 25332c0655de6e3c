/** The hub as a worker that all tabs of a browser share. */

import { Hub, type TabPort } from './lib/hub';
import { begin } from './lib/log';

const hub = new Hub();

/** The next log becomes the known one, and the tabs load the page again. */
function replaced(): void {
  begin(replaced);
  hub.replaced();
}
begin(replaced);

// The types of a worker and of a page exclude each other.
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = ({ ports }) => hub.join(ports[0] as unknown as TabPort);
