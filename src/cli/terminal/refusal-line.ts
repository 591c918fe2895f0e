/** A node's refusal of a request, as a line of output. */

import { isObject } from '../../base/json/json.ts';
import type { RefusedError } from '../../rest-framework/client.ts';

export function refusalLine({ status, body, message }: RefusedError): Record<string, unknown> {
  return isObject(body) ? body : { error: status, message };
}
