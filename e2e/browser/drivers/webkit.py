#!/usr/bin/python3
"""A small WebKitGTK browser for the tests. MiniBrowser's automation mode keeps no profile; this keeps one, in the folder
that PERDURE_WEBKIT_PROFILE names. WebKitWebDriver starts it and opens its tabs."""
import os

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gtk, WebKit2  # noqa: E402

PROFILE = os.environ["PERDURE_WEBKIT_PROFILE"]


class Browser:
    def __init__(self):
        storage = WebKit2.WebsiteDataManager(
            base_data_directory=os.path.join(PROFILE, "data"),
            base_cache_directory=os.path.join(PROFILE, "cache"),
        )
        self.context = WebKit2.WebContext(website_data_manager=storage)
        self.context.set_automation_allowed(True)
        self.context.connect("automation-started", self.started)
        # Windows live as long as they are referred to.
        self.windows = set()

    def started(self, _context, session):
        about = WebKit2.ApplicationInfo()
        about.set_name("perdure-webkit")
        about.set_version(WebKit2.get_major_version(), WebKit2.get_minor_version(), WebKit2.get_micro_version())
        session.set_application_info(about)
        for kind in ("tab", "window"):
            session.connect("create-web-view::" + kind, lambda _session: self.open())

    def open(self):
        view = WebKit2.WebView(web_context=self.context, is_controlled_by_automation=True)
        window = Gtk.Window(default_width=1024, default_height=768)
        window.add(view)
        window.show_all()
        self.windows.add(window)

        def close(_view):
            self.windows.discard(window)
            window.destroy()

        view.connect("close", close)
        return view


browser = Browser()
Gtk.main()
