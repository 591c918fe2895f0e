/**
 * The Http port of this process: on uWebSockets.js, and on Node's own server where the addon of
 * uWebSockets.js does not load. Routes, limits and answers are the same on both (server.ts); Node's
 * own serves fewer requests and has no threads.
 */
import type { Http } from '../../base/http.ts';
import { loadNative, type NativeListener } from './native.ts';
import { nodeListener } from './node-http/app.ts';
import { httpOn } from './server.ts';

interface Loaded {
  readonly native?: NativeListener;
  /** Why the addon does not load, in a line for the operator. */
  readonly problem?: string;
}

function load(): Loaded {
  try {
    return { native: loadNative() };
  } catch (cause) {
    const [problem = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    return { problem };
  }
}

/** One of the two is there. */
export const { native, problem: nativeProblem } = load();

export const nodeHttp: Http = httpOn(nodeListener);

export const httpListener: Http = native === undefined ? nodeHttp : httpOn(native);

/** The listener that serves, for the operator. */
export const listenerText =
  native === undefined ? `node:http (${nativeProblem})` : 'uWebSockets.js';
