"""A relay in front of a server, as a process of its own: what stands still with it (SIGSTOP) is a network that drops.

    python3 relay.py PORT SERVER_PORT
"""

import asyncio
import contextlib
import sys

CHUNK = 1 << 16


async def pass_on(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


async def main(port, server_port):
    async def serve(reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server_port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
