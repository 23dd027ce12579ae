// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A desktop whose keys can run commands.
enum Desktop: String, CaseIterable, ExpressibleByArgument, Sendable {
    case sway, hyprland, i3, gnome, kde

    /// What to write into its configuration, or where to click, with what can go wrong there.
    var bindings: String {
        switch self {
        case .sway: Self.swayText
        case .hyprland: Self.hyprlandText
        case .i3: Self.i3Text
        case .gnome: Self.gnomeText
        case .kde: Self.kdeText
        }
    }

    private static let swayText = #"""
        # Into ~/.config/sway/config; then: swaymsg reload
        # Hold F9 and speak; the text is typed where the cursor is. wtype is a Debian package.
        bindsym --no-repeat F9 exec utter start
        bindsym --release F9 exec utter stop | tr -d '\n' | wtype -
        # Another key while F9 is held: what was said is not sent.
        bindsym Shift+F9 exec utter cancel
        #
        # Without --no-repeat the key starts it again and again, which does no harm.
        # --release and the press need the same key without modifiers: let go of a modifier first,
        # and the release is another key's. To the clipboard instead: utter stop | wl-copy

        """#

    private static let hyprlandText = #"""
        # Into ~/.config/hypr/hyprland.conf
        # Hold F9 and speak; the text is typed where the cursor is. wtype is a Debian package.
        bind  = , F9, exec, utter start
        bindr = , F9, exec, utter stop | tr -d '\n' | wtype -
        bind  = SHIFT, F9, exec, utter cancel
        #
        # Use one key without modifiers: Hyprland loses the release when a modifier goes up first.
        # Use bind, not binde, which repeats. A release that is lost all the same costs nothing but
        # patience: 'utter stop' from anywhere ends the recording, and after 30 minutes it ends
        # by itself and is sent.

        """#

    private static let i3Text = #"""
        # Into ~/.config/i3/config; then: i3-msg reload
        # Press F9, speak, press it again; the text is typed where the cursor is (xdotool).
        bindsym F9 exec --no-startup-id utter toggle | tr -d '\n' | xdotool type --file -
        bindsym Shift+F9 exec --no-startup-id utter cancel
        #
        # Why not hold: X11 repeats a key that is held as presses and releases, so that each repeat
        # would end the recording. 'utter keys --evdev' holds without that, and takes the right to read
        # all keys. With 'xset -r 75' (F9 does not repeat any more) it can be held:
        #   bindsym F9 exec --no-startup-id utter start
        #   bindsym --release F9 exec --no-startup-id utter stop | tr -d '\n' | xdotool type --file -

        """#

    private static let gnomeText = #"""
        # GNOME's shortcuts know no release: press the key, speak, press it again. From GNOME 48 on
        # 'utter keys' has a key that is held, after a question of the desktop's.
        # In Settings > Keyboard > View and Customise Shortcuts > Custom Shortcuts, or here:
        path=/org/gnome/settings-daemon/plugins/media-keys/custom-keybindings/utter/
        schema=org.gnome.settings-daemon.plugins.media-keys
        gsettings set $schema.custom-keybinding:$path name 'utter'
        gsettings set $schema.custom-keybinding:$path binding 'F9'
        gsettings set $schema.custom-keybinding:$path command \
          'sh -c "text=\$(utter toggle) && [ -n \"\$text\" ] && printf %s \"\$text\" | wl-copy"'
        gsettings set $schema custom-keybindings "['$path']"
        #
        # The last line replaces the shortcuts that are there: 'gsettings get $schema custom-keybindings'
        # shows them, so that they can stand in the list too. GNOME runs no shell: sh -c is needed for
        # a pipe. The press that begins has no text, and must not empty the clipboard. wtype does not
        # work in GNOME.

        """#

    private static let kdeText = #"""
        # Plasma's shortcuts for commands know no release: press the key, speak, press it again.
        # 'utter keys' has a key that is held, after a question of the desktop's.
        # In System Settings > Shortcuts > Add New > Command or Script, with the key F9:
        sh -c 'text=$(utter toggle) && [ -n "$text" ] && printf %s "$text" | wl-copy'
        # and with Shift+F9, to throw away what was said:
        utter cancel
        #
        # The text goes to the clipboard: wtype does not work in Plasma.

        """#
}
