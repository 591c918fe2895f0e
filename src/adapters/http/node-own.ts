/**
 * Node's own HTTP. An `import` of it reads all that it exports, and one of its getters loads Node's
 * `fetch`: 50 ms of a start that nothing here needs.
 */
const http = process.getBuiltinModule('node:http');
export const { createServer, STATUS_CODES } = http;
