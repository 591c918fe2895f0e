/**
 * The listener that the tests of the Http port run on: that of this process, or Node's own where
 * TEST_HTTP_LISTENER is `node`. The runner runs some files once more so (scripts/repeated-runs.ts).
 */
import { httpListener, native, nodeHttp } from '../src/adapters/http/listener.ts';

const asked = process.env['TEST_HTTP_LISTENER'] ?? '';
if (asked !== '' && asked !== 'node') {
  throw new Error(`TEST_HTTP_LISTENER: ${asked} is no listener`);
}

export const isNodeListener = asked === 'node' || native === undefined;

export const http = isNodeListener ? nodeHttp : httpListener;
