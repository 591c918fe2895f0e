/** Whole HTTP requests as bytes, made before the measurement begins. */

export const post = (path: string, body: string, host = 'localhost'): Buffer =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
