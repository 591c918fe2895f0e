/** What a server of the Http port bounds, beside the budgets of its routes. */
import type { HttpServerOptions } from '../../base/ports/http.ts';
import type { BodyBounds } from './bodies.ts';

const MIB = 1024 * 1024;

export type Bounds = BodyBounds &
  Required<Pick<HttpServerOptions, 'maxInFlight' | 'maxConnections' | 'maxUnsentBytes'>>;

/** What a server bounds where its options do not say otherwise. */
export const bounds: Bounds = {
  maxInFlight: 512,
  maxConnections: 10_000,
  maxBodyBytes: 60 * MIB,
  smallBodyBytes: 4 * MIB,
  maxBodies: 1024,
  maxBodiesPerHost: 256,
  bodyTimeoutMs: 120_000,
  maxUnsentBytes: 32 * MIB,
};
