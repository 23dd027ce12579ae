// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

enum Desktop: String, CaseIterable, ExpressibleByArgument, Sendable {
    case sway, hyprland, i3, gnome, kde

    /// The lines for its configuration, or where to click, with what can go wrong there.
    ///
    /// A shell runs this program by the word `utter`.
    func bindings(of utter: String) -> String {
        switch self {
        case .sway: Self.swayText(utter)
        case .hyprland: Self.hyprlandText(utter)
        case .i3: Self.i3Text(utter)
        case .gnome: Self.gnomeText(utter)
        case .kde: Self.kdeText(utter)
        }
    }

    /// The same for a take with a preset, by another key; the path of GNOME's shortcut is its own.
    func bindings(of utter: String, preset: String, key: String) -> String {
        bindings(of: utter).replacing("F9", with: key).replacing("/utter/\n", with: "/\(key)/\n")
            .replacing("\(utter) start", with: "\(utter) start --preset \(preset)")
            .replacing("\(utter) toggle", with: "\(utter) toggle --preset \(preset)")
    }

    /// The word that runs the program in this folder, from a key as well as from a terminal.
    ///
    /// A desktop does not look where a shell does: `~/.local/bin` is missing in most.
    static func word(forProgramIn folder: String) -> String {
        ["/usr/local/bin", "/usr/bin", "/bin"].contains(folder)
            ? "utter" : ShellWord.quoted("\(folder)/utter")
    }

    private static func swayText(_ utter: String) -> String {
        """
        # Into ~/.config/sway/config; then: swaymsg reload
        # Hold F9 and speak; the text is typed where the cursor is, by wtype, a Debian package.
        bindsym --no-repeat F9 exec \(utter) start
        bindsym --release F9 exec \(utter) stop --type
        # Escape while F9 is held, or Shift+F9 after it, throws away what was said.
        bindsym F9+Escape exec \(utter) cancel
        bindsym Shift+F9 exec \(utter) cancel
        # Ctrl+F9 closes the microphone for a while, and goes on with the same recording.
        bindsym --no-repeat Ctrl+F9 exec \(utter) pause --toggle
        #
        # Another key while F9 is held, and Sway forgets the release: recording goes on until F9 is
        # pressed and let go once more. To the clipboard instead: stop --copy, by wl-clipboard.
        # To press F9, speak, and press it again, this line instead of the first two:
        #   bindsym --no-repeat F9 exec \(utter) toggle --type

        """
    }

    private static func hyprlandText(_ utter: String) -> String {
        """
        # Into ~/.config/hypr/hyprland.conf
        # Hold F9 and speak; the text is typed where the cursor is, by wtype, a Debian package.
        bind  = , F9, exec, \(utter) start
        bindr = , F9, exec, \(utter) stop --type
        # After that, what was said is thrown away as long as there is no text.
        bind  = SHIFT, F9, exec, \(utter) cancel
        # The microphone is closed for a while, and the same recording goes on.
        bind  = CTRL, F9, exec, \(utter) pause --toggle
        #
        # Use one key without modifiers: Hyprland loses the release when a modifier goes up first.
        # Use bind, not binde, which repeats. After a release that was lost, recording goes on until
        # F9 is pressed and let go once more. To the clipboard instead: stop --copy.

        """
    }

    private static func i3Text(_ utter: String) -> String {
        """
        # Into ~/.config/i3/config; then: i3-msg reload
        # Press F9, speak, press it again; the text is typed where the cursor is, by xdotool, a
        # Debian package.
        bindsym F9 exec --no-startup-id \(utter) toggle --type
        bindsym Shift+F9 exec --no-startup-id \(utter) cancel
        # Ctrl+F9 closes the microphone for a while, and goes on with the same recording.
        bindsym Ctrl+F9 exec --no-startup-id \(utter) pause --toggle
        #
        # Why not hold: X11 repeats a key that is held as presses and releases, so that each repeat
        # would end the recording. '\(utter) keys --evdev' holds without that, and takes the right to
        # read all keys. With 'xset -r 75' (F9 does not repeat any more) it can be held:
        #   bindsym F9 exec --no-startup-id \(utter) start
        #   bindsym --release F9 exec --no-startup-id \(utter) stop --type
        # With a modifier down i3 knows no release of F9: recording goes on until the next one.

        """
    }

    private static func gnomeText(_ utter: String) -> String {
        """
        # GNOME does not tell when a key is released: press it, speak, press it again. From GNOME 48 on,
        # \(utter) keys has a key that is held, once the desktop has asked you.
        # The text goes to the clipboard, by wl-clipboard or xclip. Typing, with --type, needs ydotool,
        # since wtype does not work in GNOME.
        # Add it in Settings, Keyboard, View and Customise Shortcuts, Custom Shortcuts, or paste these
        # lines into a shell. Your other shortcuts stay, and pasting twice does no harm.
        place=/org/gnome/settings-daemon/plugins/media-keys/custom-keybindings/utter/
        schema=org.gnome.settings-daemon.plugins.media-keys
        gsettings set $schema.custom-keybinding:$place name utter
        gsettings set $schema.custom-keybinding:$place binding F9
        gsettings set $schema.custom-keybinding:$place command \\
          \(ShellWord.quoted("\"\(utter) toggle --copy\""))
        list=$(gsettings get $schema custom-keybindings)
        case $list in
          *"'$place'"*) ;;
          *"'"*) list="${list%]}, '$place']" ;;
          *"[]") list="['$place']" ;;
        esac
        gsettings set $schema custom-keybindings "$list"

        """
    }

    private static func kdeText(_ utter: String) -> String {
        """
        # Plasma does not tell a command when a key is released: press it, speak, press it again.
        # \(utter) keys has a key that is held, once the desktop has asked you.
        # In System Settings, Shortcuts, Add New, Command or Script, with the key F9:
        \(utter) toggle --copy
        # and with Shift+F9, to throw away what was said:
        \(utter) cancel
        # and with Ctrl+F9, to close the microphone for a while:
        \(utter) pause --toggle
        #
        # The text goes to the clipboard, by wl-clipboard or xclip: wtype does not work in Plasma,
        # ydotool (--type) does.

        """
    }
}
