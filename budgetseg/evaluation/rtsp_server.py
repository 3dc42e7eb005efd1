"""Serve a video as a real RTSP stream by GStreamer's server, where the system has it: a program of its own.

It runs with the Python of the system, whose packages it needs: `gir1.2-gst-rtsp-server-1.0`, `python3-gi` and
GStreamer's good and bad plug-ins on Debian. The stream ends with the video, and begins anew with the next client.
"""

import sys


def main() -> None:
    """Serve until the program is ended: PATH of an MP4 with H.264, PORT."""
    import gi  # type: ignore[import-not-found,unused-ignore]

    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer  # type: ignore[import-not-found,unused-ignore]

    path, port = sys.argv[1:]
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    pipeline = f"filesrc location={path} ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1"
    factory.set_launch(f"( {pipeline} )")
    factory.set_shared(True)
    server.get_mount_points().add_factory("/main", factory)
    server.attach(None)
    print("ready", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
